"""A server with a model for each kind of field, each simple enough to know its numbers by heart."""

import dataclasses

import pytest

from pairloom.serving.description import DESCRIPTION_FILE, Description, Field
from pairloom.serving.server import ModelServer, ServerOptions

LABELS = ["bad", "good", *(f"label {number}" for number in range(2, 12))]
DOCUMENT = Description(
    (Field("review", "texts", "source_tokens", "attention", "attention_words"),),
    Field("mood", "label", "target_tokens", details={"labels": LABELS}),
    axes={"attention": ("answer", "source")},
)
REPLY = Description(
    (
        Field("context", "texts", "context_tokens", "attention_context", "attention_context_words"),
        Field("style", "label", details={"labels": ["short", "long"]}),
        Field("question", "text", "question_tokens", "attention_question"),
    ),
    Field("reply", "text", "target_tokens"),
    axes={"target_tokens": ("target",)},
)
NUMBERS = Description(
    (Field("pixels", "numbers"),), Field("pixels", "numbers"), axes={"pixels": ("number",)}
)
LANGUAGE = Description(
    (),
    Field("line", "text", "target_tokens"),
    axes={"target_tokens": ("target",), "activations": ("target", "unit")},
)
MOST_BYTES = 20_000
PHOTO = Field(
    "photo",
    "image",
    attention="attention",
    details={"grid": [2, 3], "most_bytes": MOST_BYTES, "height": 8, "width": 12},
)
CAPTION = Description(
    (PHOTO,),
    Field("caption", "text", "target_tokens"),
    axes={"target_tokens": ("target",), "attention": ("target", "photo")},
)
LOOK = Description(
    (dataclasses.replace(PHOTO, attention="attention_photo"), Field("question", "text")),
    Field("answer", "label", "target_tokens", details={"labels": ["no", "yes"]}),
    axes={"target_tokens": ("target",), "attention_photo": ("target", "photo")},
)
CLIP = Description(
    (
        Field(
            "clip",
            "clip",
            "source_tokens",
            "attention",
            details={"frames": 4, "height": 24, "width": 32},
        ),
    ),
    Field("caption", "text", "target_tokens"),
    axes={"target_tokens": ("target",), "attention": ("target", "source")},
)
FEATURES = Description(
    (Field("features", "features", "source_tokens", "attention", details={"width": 2}),),
    Field("answer", "label", "target_tokens", details={"labels": ["no", "yes"]}),
    axes={"target_tokens": ("target",), "attention": ("target", "source")},
)
# Nobody can write several texts.
UNWRITABLE = Description((Field("source", "text"),), Field("target", "texts"))


def _string(name):
    import tensorflow as tf

    return tf.TensorSpec([None], tf.string, name=name)


def _nested(texts):
    """Lines, or sentences, to the marked words of each, `(batch, sentences, words)`."""
    import tensorflow as tf

    whole = tf.strings.regex_full_match(texts, "(?s).*\n.*")
    apart = tf.strings.regex_replace(texts, r"([.!?])\s+", "\\1\n")
    lines = tf.strings.split(tf.where(whole, texts, apart), "\n")
    words = lines.with_values(tf.strings.split(lines.values))
    return words.with_flat_values(tf.strings.join(["▁", words.flat_values])).to_tensor("")


def _words(texts):
    import tensorflow as tf

    words = tf.strings.split(texts)
    return words.with_flat_values(tf.strings.join(["▁", words.flat_values])).to_tensor("")


def _shares(amounts):
    """Amounts to weights along the last axis that add up to 1."""
    import tensorflow as tf

    amounts = tf.cast(amounts, tf.float32)
    return tf.math.divide_no_nan(amounts, tf.reduce_sum(amounts, -1, keepdims=True))


def _looks(nested, rows):
    """Sentences weigh as many words as they have, words as many letters and their mark."""
    import tensorflow as tf

    counts = tf.math.count_nonzero(tf.strings.length(nested), axis=2)
    sentences = tf.tile(_shares(counts)[:, None], [1, rows, 1])
    return sentences, _shares(tf.strings.length(nested, "UTF8_CHAR"))


def _document(review):
    """Finds every review good; to what begins with `nothing` it has no answer."""
    import tensorflow as tf

    there = ~tf.strings.regex_full_match(review, "nothing.*")
    tokens = _nested(review)
    sentences, words = _looks(tokens, 1)
    # "good" is as probable as all others together, and so on.
    chances = [0.25, 0.5, *(0.25 * 0.5**power for power in range(1, 11))]
    rows = tf.shape(review)[0]
    mood = tf.where(there, "good", "")
    return {
        "mood": mood,
        "score": tf.where(there, tf.math.log(0.5), -float("inf")),
        "probabilities": tf.tile(tf.constant([chances]), [rows, 1]),
        "labels": tf.tile(tf.constant([LABELS]), [rows, 1]),
        "target_tokens": mood[:, None],
        "source_tokens": tokens,
        "attention": sentences,
        "attention_words": words,
    }


def _reply(context, style, question):
    import tensorflow as tf

    reply = tf.strings.join([style, question], " ")
    target = _words(reply)
    rows = tf.shape(target)[1]
    tokens = _nested(context)
    sentences, words = _looks(tokens, rows)
    # The first word is written for the last utterance alone.
    last = tf.one_hot(tf.shape(tokens)[1] - 1, tf.shape(tokens)[1])
    first = tf.one_hot(0, rows)[None, :, None]
    return {
        "reply": reply,
        "score": tf.fill(tf.shape(reply), -1.0),
        "target_tokens": target,
        "context_tokens": tokens,
        "attention_context": first * last[None, None] + (1 - first) * sentences,
        "attention_context_words": words,
        "question_tokens": _words(question),
        "attention_question": tf.eye(rows, tf.shape(_words(question))[1])[None],
    }


def _caption(photo):
    """Four words, of which the first looks at the first region, and so on; the last at all."""
    import tensorflow as tf

    tokens = tf.tile([["▁a", "▁red", "▁dog", "</s>"]], [_opened(photo), 1])
    looks = tf.concat([tf.eye(3, 6), tf.fill([1, 6], 1 / 6)], 0)
    return {
        "caption": tf.fill(tf.shape(photo), "a red dog"),
        "score": tf.fill(tf.shape(photo), -0.5),
        "target_tokens": tokens,
        "attention": tf.tile(looks[None], [tf.shape(photo)[0], 1, 1]),
    }


def _look(photo, question):
    """Says yes to every question, and looks at the last region for it."""
    import tensorflow as tf

    rows = _opened(photo)
    with tf.control_dependencies([question]):
        answer = tf.fill([rows], "yes")
    return {
        "answer": answer,
        "score": tf.zeros([rows]),
        "probabilities": tf.tile([[0.25, 0.75]], [rows, 1]),
        "labels": tf.tile([["no", "yes"]], [rows, 1]),
        "target_tokens": answer[:, None],
        "attention_photo": tf.one_hot(tf.fill([rows, 1], 5), 6),
    }


def _clip(clip):
    """Tells the frames' brightness, and looks at the first one for the first word, and so on."""
    import tensorflow as tf

    def brightness(frame):
        pixels = tf.cast(tf.io.decode_image(frame, expand_animations=False), tf.float32)
        return tf.reduce_mean(pixels)

    flat = tf.map_fn(brightness, tf.reshape(clip, [-1]), fn_output_signature=tf.float32)
    told = tf.strings.as_string(tf.cast(tf.round(tf.reshape(flat, [-1, 4])), tf.int32))
    rows = tf.shape(clip)[0]
    return {
        "caption": tf.strings.reduce_join(told, 1, separator=" "),
        "score": tf.fill([rows], -0.5),
        "target_tokens": tf.tile([["▁a", "▁dog", "</s>"]], [rows, 1]),
        "source_tokens": tf.tile([["0", "1", "2", "3"]], [rows, 1]),
        "attention": tf.tile(tf.eye(3, 4)[None], [rows, 1, 1]),
    }


def _features(features):
    """Says yes, and looks at each vector as its first number says."""
    import tensorflow as tf

    rows, time = tf.shape(features)[0], tf.shape(features)[1]
    answer = tf.fill([rows], "yes")
    return {
        "answer": answer,
        "score": tf.zeros([rows]),
        "probabilities": tf.tile([[0.25, 0.75]], [rows, 1]),
        "labels": tf.tile([["no", "yes"]], [rows, 1]),
        "target_tokens": answer[:, None],
        "source_tokens": tf.tile(tf.strings.as_string(tf.range(time))[None], [rows, 1]),
        "attention": features[:, None, :, 0],
    }


def _opened(photos):
    """How many there are; an error if one cannot be decoded."""
    import tensorflow as tf

    def size(photo):
        return tf.shape(tf.io.decode_image(photo, expand_animations=False))[0]

    sizes = tf.map_fn(size, photos, fn_output_signature=tf.int32)
    return tf.shape(sizes)[0]


def _save(folder, functions, description):
    import tensorflow as tf

    module = tf.Module()
    signatures = {
        name: tf.function(function, input_signature=specs).get_concrete_function()
        for name, (function, specs) in functions.items()
    }
    tf.saved_model.save(module, str(folder), signatures=signatures)
    (folder / DESCRIPTION_FILE).parent.mkdir()
    (folder / DESCRIPTION_FILE).write_text(description.to_json())


def _language():
    """Writes on with "ha". Unit 0 never changes, 1 tells vowels, 2 counts and hardly moves."""
    import tensorflow as tf

    def nbest(beginning):
        ends = [" ha", " ha ha"]
        return {
            "line": tf.stack([tf.strings.join([beginning, end]) for end in ends], 1),
            "score": tf.tile([[-0.5, -1.5]], [tf.shape(beginning)[0], 1]),
        }

    def sample(beginning, seed):
        drawn = [tf.strings.join([beginning, tf.strings.as_string(seed + i)], " ") for i in (0, 1)]
        return {"line": tf.stack(drawn, 1), "score": tf.zeros([tf.shape(beginning)[0], 2]) - 3.0}

    def score(line):
        letters = tf.strings.unicode_split(line, "UTF-8")
        marked = tf.strings.regex_replace(letters.flat_values, " ", "▁")
        tokens = letters.with_flat_values(marked).to_tensor("")
        vowels = tf.cast(tf.strings.regex_full_match(tokens, "[aeiou]"), tf.float32)
        places = tf.cast(tf.range(tf.shape(tokens)[1]), tf.float32) * tf.ones_like(vowels)
        units = tf.stack([tf.fill(tf.shape(vowels), 0.75), vowels * 1.5 - 1.0, places / 1000], -1)
        return {"target_tokens": tokens, "token_scores": -vowels - 0.25, "activations": units}

    seed = tf.TensorSpec([None], tf.int64, name="seed")
    return {
        "serving_default": (nbest, [_string("beginning")]),
        "nbest": (nbest, [_string("beginning")]),
        "sample": (sample, [_string("beginning"), seed]),
        "score": (score, [_string("line")]),
    }


@pytest.fixture(scope="session")
def kinds_server(tmp_path_factory):
    """Serves a model for each description above, under the same name in small letters."""
    import tensorflow as tf

    base = tmp_path_factory.mktemp("kinds")
    vector = tf.TensorSpec([None, None], tf.float32, name="pixels")
    asked = [_string("context"), _string("style"), _string("question")]
    review = [_string("review")]
    photo = [_string("photo"), _string("question")]
    frames = tf.TensorSpec([None, 4], tf.string, name="clip")
    vectors = tf.TensorSpec([None, None, 2], tf.float32, name="features")
    models = {
        "document": {"serving_default": (_document, review), "explain": (_document, review)},
        "reply": {"serving_default": (_reply, asked), "explain": (_reply, asked)},
        "numbers": {"serving_default": (lambda pixels: {"pixels": 1.0 - pixels}, [vector])},
        "language": _language(),
        "unwritable": {"serving_default": (lambda source: {"target": source}, [_string("source")])},
        "caption": dict.fromkeys(("serving_default", "explain"), (_caption, photo[:1])),
        "look": dict.fromkeys(("serving_default", "explain"), (_look, photo)),
        "clip": dict.fromkeys(("serving_default", "explain"), (_clip, [frames])),
        "features": dict.fromkeys(("serving_default", "explain"), (_features, [vectors])),
    }
    described = (DOCUMENT, REPLY, NUMBERS, LANGUAGE, UNWRITABLE, CAPTION, LOOK, CLIP, FEATURES)
    for (name, functions), description in zip(models.items(), described):
        _save(base / name / "1", functions, description)
    configs = "".join(
        f'config {{ name: "{name}" base_path: "{base / name}" model_platform: "tensorflow" }}'
        for name in models
    )
    (base / "models.config").write_text(f"model_config_list {{ {configs} }}")
    options = ServerOptions(
        model_config_file=str(base / "models.config"),
        port=0,
        rest_api_port=0,
        free_rest_port=True,
    )
    with ModelServer(options) as server:
        yield server


@pytest.fixture
def open_model(open_page, kinds_server):
    """Opens the page on one of the models: `open_model("document", {"review": "Good."})`."""

    def open_model(name, inputs=None, **how):
        return open_page(inputs, server=kinds_server, model=name, **how)

    return open_model
