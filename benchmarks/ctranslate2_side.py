"""CTranslate2's side of the decoding benchmark; runs in an environment of its own.

    pip install ctranslate2==4.8.4 'numpy<2'
    python ctranslate2_side.py convert FOLDER                      # FOLDER/weights.npz to a model
    python ctranslate2_side.py decode FOLDER TYPE BEAM LENGTH STREAMS    # prints sentences a second

FOLDER holds `weights.npz` and `test.json` as `transformer_decoding.py` writes them; TYPE is
`float32` or `int8`. With LENGTH 0 sentences end where the weights say. With one stream a batch may
use all cores; with more, so many batches are computed side by side, each on one core.
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec

BATCH = 64


def convert(folder):
    """Writes our Transformer as CTranslate2 models."""
    weights = np.load(os.path.join(folder, "weights.npz"))
    for kind in ("float32", "int8"):
        spec = make_spec(weights)
        spec.optimize(quantization=None if kind == "float32" else kind)
        target = os.path.join(folder, kind)
        os.makedirs(target, exist_ok=True)
        spec.save(target)


def make_spec(weights):
    """Our Transformer in CTranslate2's terms."""
    layers, heads, size = (int(weights[name]) for name in ("layers", "heads", "size"))
    spec = TransformerSpec.from_config((layers, layers), heads, pre_norm=True)
    for side, name in ((spec.encoder, "encoder"), (spec.decoder, "decoder")):
        embeddings = side.embeddings[0] if name == "encoder" else side.embeddings
        embeddings.weight = weights["embedding"]
        side.scale_embeddings = True
        side.position_encodings.encodings = weights["places"]
        norm(side.layer_norm, weights, f"{name}.norm")
        for number, layer in enumerate(side.layer):
            fill(layer, weights, f"{name}.{number}")
    spec.decoder.projection.weight = weights["embedding"]
    spec.decoder.projection.bias = weights["bias"]
    tokens = [str(number) for number in range(size)]
    tokens[1:4] = ["<unk>", "<s>", "</s>"]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.layer_norm_epsilon = 1e-6
    spec.config.add_source_bos = spec.config.add_source_eos = False
    spec.validate()
    return spec


def fill(layer, weights, name):
    """One block's weights; theirs are (out, in), ours (in, out)."""
    own = f"{name}.self_attention"
    joined = np.concatenate([weights[f"{own}.{part}"].T for part in ("query", "key", "value")])
    layer.self_attention.linear[0].weight = joined
    layer.self_attention.linear[1].weight = weights[f"{own}.output"].T
    norm(layer.self_attention.layer_norm, weights, f"{name}.self_norm")
    if hasattr(layer, "attention"):
        cross = f"{name}.cross_attention"
        layer.attention.linear[0].weight = weights[f"{cross}.query"].T
        joined = np.concatenate([weights[f"{cross}.{part}"].T for part in ("key", "value")])
        layer.attention.linear[1].weight = joined
        layer.attention.linear[2].weight = weights[f"{cross}.output"].T
        norm(layer.attention.layer_norm, weights, f"{name}.cross_norm")
    norm(layer.ffn.layer_norm, weights, f"{name}.feed_norm")
    for linear, part in ((layer.ffn.linear_0, "hidden"), (layer.ffn.linear_1, "output")):
        linear.weight = weights[f"{name}.feed_forward.{part}_kernel"].T
        linear.bias = weights[f"{name}.feed_forward.{part}_bias"]


def norm(spec, weights, name):
    """A layer normalisation."""
    spec.gamma, spec.beta = weights[f"{name}.gamma"], weights[f"{name}.beta"]


def decode(folder, kind, beam, length, streams):
    """Times the whole test set after a first pass, and prints the answers' ids too."""
    with open(os.path.join(folder, "test.json")) as file:
        sentences = [[str(number) for number in ids] for ids in json.load(file)]
    translator = ctranslate2.Translator(
        os.path.join(folder, kind),
        device="cpu",
        compute_type=kind,
        inter_threads=streams,
        intra_threads=1 if streams > 1 else os.cpu_count(),
    )
    batches = [sentences[i : i + BATCH] for i in range(0, len(sentences), BATCH)]

    def answer(batch):
        return translator.translate_batch(
            batch,
            beam_size=beam,
            length_penalty=0.6,
            min_decoding_length=max(length - 1, 0),
            max_decoding_length=length - 1 if length else 80,
        )

    with ThreadPoolExecutor(streams) as pool:
        for _ in range(2):
            started = time.perf_counter()
            found = [result for results in pool.map(answer, batches) for result in results]
            seconds = time.perf_counter() - started
    answers = [[int(token) for token in result.hypotheses[0]] for result in found]
    tokens = sum(len(answer) + 1 for answer in answers) / len(answers)
    print(
        json.dumps(
            {
                "sentences_per_second": len(sentences) / seconds,
                "length": tokens,
                "answers": answers,
            }
        )
    )


if __name__ == "__main__":
    if sys.argv[1] == "convert":
        convert(sys.argv[2])
    else:
        decode(sys.argv[2], sys.argv[3], *map(int, sys.argv[4:7]))
