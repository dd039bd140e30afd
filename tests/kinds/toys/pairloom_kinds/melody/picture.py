from pairloom.kinds.looked import Picture


def draw(looked, target_tokens, width=None, color=False):
    """Each note as often as it weighs, in tenths."""
    weights = looked.attention.sum(0)
    return "melody " + " ".join(
        note + "!" * round(10 * float(weight)) for note, weight in zip(looked.tokens, weights)
    )


def plan(looked, target_tokens, value):
    """As a text's."""
    arguments = {"source_tokens": looked.tokens, "target_tokens": target_tokens}
    return Picture("alignment", {"weights": looked.attention, **arguments})
