def draw(looked, target_tokens, width=None, color=False):
    """Each note as often as it weighs, in tenths."""
    weights = looked.attention.sum(0)
    return "melody " + " ".join(
        note + "!" * round(10 * float(weight)) for note, weight in zip(looked.tokens, weights)
    )
