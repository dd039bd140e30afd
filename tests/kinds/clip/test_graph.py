"""Clips in the graph."""

import io

import numpy as np
import tensorflow as tf
from PIL import Image

from pairloom.kinds.clip import KIND, ClipOptions
from pairloom.kinds.clip.graph import Graph

FRAMES, SIZE = 4, (6, 8)


def png(color: int, size=SIZE) -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.full((*size, 3), color, np.uint8)).save(file, "PNG")
    return file.getvalue()


def graph(**options) -> Graph:
    said = ClipOptions(frames=FRAMES, height=SIZE[0], width=SIZE[1], **options)
    return Graph("clip", vars(said), b"")


def clip(*colors: int) -> list[bytes]:
    return [*map(png, colors), *[b""] * (FRAMES - len(colors))]


CLIPS = [clip(10, 20, 30, 40), clip(50, 0), clip(10, 20, 30, 40), clip()]


def test_frames_are_decoded_and_what_is_missing_is_zero():
    found = graph().tensor(tf.constant(CLIPS)).numpy()
    assert found.shape == (4, FRAMES, *SIZE, 3)
    assert found[0, :, 0, 0, 0].tolist() == [10, 20, 30, 40]
    assert found[1, :, 0, 0, 0].tolist() == [50, 1, 0, 0], "a black frame is a frame"
    assert not found[3].any()


def test_columns_cut_the_batch_that_the_served_values_make(stored_column):
    made = graph()
    column = stored_column(made, tf.constant(CLIPS))
    batch = column.batch(np.array([2, 0, 1, 3]))
    assert len(batch.values) == 3, "equal clips are one"
    expected = made.tensor(tf.constant(CLIPS)).numpy()[[2, 0, 1, 3]]
    np.testing.assert_array_equal(batch.values[batch.rows], expected)
    assert column.extents().ravel().tolist() == [4, 2, 4, 0]


def test_places_are_numbers_of_frames_and_nothing_is_told_from_something():
    made = graph()
    values = tf.constant(CLIPS)
    places = made.places(made.tensor(values)).numpy().tolist()
    assert places[1] == [b"0", b"1", b"", b""]
    assert made.present(values).numpy().tolist() == [True, True, True, False]


def test_the_way_back_loses_nothing():
    made = graph()
    tensor = made.tensor(tf.constant(CLIPS))
    values = made.values(tensor)
    assert values[3].numpy().tolist() == [b""] * FRAMES
    np.testing.assert_array_equal(made.tensor(values), tensor)


def test_only_evaluation_runs_backwards_and_padding_stays_behind():
    made = graph(backwards=True)
    tensor = made.tensor(tf.constant(CLIPS))
    backwards = made.corrupted(tensor).numpy()[:, :, 0, 0, 0]
    assert backwards[:2].tolist() == [[40, 30, 20, 10], [1, 50, 0, 0]]
    np.testing.assert_array_equal(made.corrupted(tensor, tf.constant([1, 2])), tensor)
    plain = graph()
    assert plain.corrupted(tensor) is tensor


def test_all_frames_of_a_clip_are_changed_alike_and_padding_stays_none():
    made = graph(flip=True, crop=0.3, color=0.3)
    shaded = np.zeros((3, FRAMES, *SIZE, 3), np.uint8)
    shaded[:, :3] = np.linspace(1, 200, SIZE[1], dtype=np.uint8)[:, None]
    changed = made.corrupted(tf.constant(shaded), tf.constant([3, 4])).numpy()
    np.testing.assert_array_equal(changed[:, 0], changed[:, 2])
    assert not changed[:, 3].any() and changed[:, :3].min() >= 1
    assert (changed[:, 0] != shaded[:, 0]).any()
    again = made.corrupted(tf.constant(shaded), tf.constant([3, 4]))
    np.testing.assert_array_equal(again, changed)


def test_the_kind_makes_what_the_graph_takes(write_clip, tmp_path):
    path = write_clip(tmp_path / "a.mp4", count=3)
    sent = KIND.serve_to(path, {"frames": FRAMES, "height": SIZE[0], "width": SIZE[1]})
    assert len(sent) == FRAMES and sent[3] == b""
    assert (
        KIND.serve_to(path.read_bytes(), {"frames": FRAMES, **dict(zip(("height", "width"), SIZE))})
        == sent
    )
    found = graph().tensor(tf.constant([sent])).numpy()
    assert found[0, :3].max() > 200 and not found[0, 3].any()
