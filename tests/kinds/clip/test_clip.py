"""What a client and a row may give as a clip."""

import pytest

from pairloom.kinds.clip import KIND, ClipOptions
from pairloom.kinds.files import FileContent
from pairloom.kinds.kind import FieldError

JPEG, PNG = b"\xff\xd8\xff...", b"\x89PNG\r\n\x1a\n..."


def test_a_row_has_as_many_frames_as_stated_the_last_ones_empty(write_clip, tmp_path):
    content = write_clip(tmp_path / "a.mp4", count=3).read_bytes()
    value = KIND.read(FileContent("a.mp4", content), vars(ClipOptions(frames=5)), 100)
    assert [bool(frame) for frame in value.encoded] == [True] * 3 + [False] * 2
    assert KIND.show(value) == "a.mp4"
    again = KIND.read(FileContent("b.mp4", content), vars(ClipOptions(frames=5)), 100)
    assert KIND.key(again) == KIND.key(value), "equal clips stay together, whatever they are called"


@pytest.mark.parametrize(
    ("value", "one"),
    [("a.mp4", True), (b"bytes", True), ([JPEG, PNG], True), (["a.mp4"], False), ([[JPEG]], False)],
)
def test_a_list_of_pictures_is_one_clip(value, one):
    assert KIND.is_one(value) is one


def test_pictures_are_taken_evenly_or_padded():
    pictures = [JPEG + bytes([n]) for n in range(6)]
    assert KIND.serve_to(pictures, {"frames": 2}) == [pictures[1], pictures[4]]
    assert KIND.serve_to(pictures, {"frames": 8}) == [*pictures, b"", b""]
    assert KIND.answer(KIND.serve_to(pictures, {"frames": 8})) == pictures


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("missing.mp4", "cannot be read, `missing.mp4`: No such file"),
        (b"nonsense", "is no video"),
        (3, "must hold paths of videos, or their bytes. Received: int"),
        ([JPEG, b"nonsense"], "must hold paths of videos, their bytes, or lists of images"),
    ],
)
def test_what_is_no_clip_is_refused(value, reason):
    with pytest.raises(FieldError, match=reason):
        KIND.serve(value)
