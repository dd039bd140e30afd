"""From transformed examples to batches of similar length."""

from collections.abc import Mapping, Sequence

import tensorflow as tf

from pairloom.models.text.subwords import BOS, EOS

_PARSED_AT_ONCE = 512
_SHUFFLED = 100_000


def read_pairs(
    files: Sequence[str], spec: Mapping[str, tf.io.RaggedFeature], source: str, target: str
) -> tf.data.Dataset:
    """Reads pairs of ids from gzipped TFRecords, one by one.

    Args:
        files: File patterns.
        spec: How Transform stored the fields, its `transformed_feature_spec()`.
        source: The input field.
        target: The output field.

    Returns:
        A dataset of `(source_ids (source_time,), target_ids (target_time,))`, int32, the target
        between begin and end: `[2, 17, 240, 3]`.
    """
    names = sorted(name for pattern in files for name in tf.io.gfile.glob(pattern))
    spec = {name: spec[name] for name in (source, target)}

    def parse(serialized):
        parsed = tf.io.parse_example(serialized, spec)
        rows = tf.size(serialized)
        begin, end = tf.fill([rows, 1], BOS), tf.fill([rows, 1], EOS)
        ids = tf.cast(parsed[target], tf.int32)
        return tf.cast(parsed[source], tf.int32), tf.concat([begin, ids, end], axis=1)

    records = tf.data.TFRecordDataset(names, compression_type="GZIP")
    pairs = records.batch(_PARSED_AT_ONCE).map(parse).unbatch()
    return pairs.map(lambda s, t: (_dense(s), _dense(t)))


def in_batches(
    pairs: tf.data.Dataset,
    batch_tokens: int,
    *,
    shuffle_seed: int | None = None,
    fixed_shapes: bool = False,
) -> tf.data.Dataset:
    """Groups pairs of similar length until a batch holds about `batch_tokens` target tokens.

    Args:
        pairs: As `read_pairs` gives them.
        batch_tokens: Target tokens a batch, counted at the bucket's longest.
        shuffle_seed: Shuffles with it; the same seed gives the same batches. None: as they come.
        fixed_shapes: Pads to the bucket's bound and drops incomplete batches, for XLA.

    Returns:
        A dataset of `(source_ids (batch, source_time), target_ids (batch, target_time))`, padded
        with 0.
    """
    if shuffle_seed is not None:
        pairs = pairs.shuffle(_SHUFFLED, seed=shuffle_seed)
    bounds = bucket_bounds(batch_tokens)
    sizes = [max(1, batch_tokens // bound) for bound in bounds]
    batches = pairs.bucket_by_sequence_length(
        lambda source, target: tf.maximum(tf.size(source), tf.size(target) - 1),
        bucket_boundaries=[bound + 1 for bound in bounds],
        bucket_batch_sizes=[*sizes, 1],
        pad_to_bucket_boundary=False,
        drop_remainder=fixed_shapes,
    )
    if fixed_shapes:
        batches = batches.map(lambda s, t: (_pad_up(s, bounds), _pad_up(t, bounds)))
    if shuffle_seed is not None:
        # Buckets fill in turns; without this the lengths of neighbouring batches go together.
        batches = batches.shuffle(64, seed=shuffle_seed)
    return batches.prefetch(2)


def bucket_bounds(batch_tokens: int) -> list[int]:
    """Upper length bounds: narrow for short pairs, an eighth wider each for long ones."""
    bounds, bound = [], 4
    while bound < max(batch_tokens, 8):
        bounds.append(bound)
        bound = bound + max(2, bound // 8)
    return bounds


def _dense(ids):
    return ids.to_tensor() if isinstance(ids, tf.RaggedTensor) else ids


def _pad_up(ids, bounds: list[int]):
    """Pads the time axis of `ids (batch, time)` to the next bound, begin and end included."""
    limits = tf.constant([bound + 2 for bound in bounds])
    time = tf.shape(ids)[1]
    wanted = tf.reduce_min(tf.where(limits >= time, limits, limits[-1]))
    return tf.pad(ids, [[0, 0], [0, tf.maximum(wanted - time, 0)]])
