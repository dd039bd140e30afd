"""Videos, good and bad, to frames."""

import io
import math
import struct

import av
import numpy as np
import pytest
from PIL import Image

from pairloom.kinds.clip import ClipOptions
from pairloom.kinds.clip.frames import evenly
from pairloom.kinds.clip.reading import Limits, read_frames
from pairloom.kinds.kind import FieldError

LIMITS = Limits.of(vars(ClipOptions(height=48, width=64)))


@pytest.fixture(scope="module")
def film(write_clip, tmp_path_factory) -> bytes:
    return write_clip(tmp_path_factory.mktemp("clips") / "a.mp4").read_bytes()


def pixels(jpeg: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(jpeg)))


def left_side(jpeg: bytes) -> int:
    """Where the white square begins."""
    return int(np.argmax(pixels(jpeg)[24, :, 0] > 128))


@pytest.mark.parametrize(("count", "most"), [(20, 4), (7, 3), (5, 5), (3, 8), (1, 1), (100, 16)])
def test_frames_lie_in_the_middle_of_equal_shares(count, most):
    expected = [math.floor((n + 0.5) * count / most) for n in range(most)]
    assert evenly(count, most) == (expected if count > most else list(range(count)))


def test_frames_come_evenly_and_in_order(film):
    found = read_frames(film, 4, LIMITS)
    assert [left_side(jpeg) for jpeg in found] == pytest.approx(
        [2 * n for n in (2, 7, 12, 17)], abs=1
    )
    assert pixels(found[0]).shape == (48, 64, 3)


def test_of_a_short_clip_all_frames_are_taken(film):
    assert len(read_frames(film, 64, LIMITS)) == 20


def test_large_frames_are_made_small_and_small_ones_left(film):
    limits = Limits.of(vars(ClipOptions(height=24, width=100)))
    assert pixels(read_frames(film, 1, limits)[0]).shape == (24, 64, 3)


def test_a_film_that_a_phone_turned_stands_upright(film):
    # The matrix in the header of the track, 40 bytes behind its name: a quarter clockwise.
    at = film.index(b"tkhd") + 4 + 40
    one = 1 << 16
    turned = struct.pack(">9i", 0, one, 0, -one, 0, 0, 0, 0, 1 << 30)
    found = read_frames(film[:at] + turned + film[at + 36 :], 1, Limits.of(vars(ClipOptions())))
    plain = pixels(read_frames(film, 1, LIMITS)[0])
    np.testing.assert_allclose(pixels(found[0]), np.rot90(plain, -1), atol=40)


def sound() -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def nothing() -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="avi") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 16
        container.start_encoding()
    return file.getvalue()


def jpeg() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (sound, "has no pictures: it holds sound alone"),
        (nothing, "has no frames"),
        (lambda: b"no video at all" * 100, "is no video that can be opened: expected MP4"),
        (jpeg, "is no video that can be opened"),
        # A playlist would have FFmpeg open other files.
        (lambda: b"#EXTM3U\n#EXTINF:1,\n/etc/passwd\n", "is no video that can be opened"),
        (lambda: b"ffconcat version 1.0\nfile /etc/passwd\n", "is no video that can be opened"),
    ],
)
def test_what_is_no_video_is_refused(content, reason):
    with pytest.raises(FieldError, match=reason):
        read_frames(content(), 4, LIMITS)


def test_a_film_that_is_cut_off_is_refused(film):
    with pytest.raises(FieldError, match="is (a broken video|no video)"):
        read_frames(film[: len(film) // 2], 4, LIMITS)


def test_a_film_cut_off_behind_its_header_is_refused(film, tmp_path):
    """As streams have them: the header in front, the pictures behind."""
    path = tmp_path / "fast.mp4"
    with (
        av.open(io.BytesIO(film)) as source,
        av.open(str(path), "w", options={"movflags": "faststart"}) as target,
    ):
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(source.streams.video[0]):
            if packet.size:
                packet.stream = stream
                target.mux(packet)
    whole = path.read_bytes()
    assert len(read_frames(whole, 4, LIMITS)) == 4
    at = whole.index(b"mdat") + 4
    with pytest.raises(FieldError, match="is a broken video"):
        read_frames(whole[: at + (len(whole) - at) // 2], 4, LIMITS)


def test_spoiled_pictures_are_refused(film):
    at = film.index(b"mdat") + 4
    spoiled = film[:at] + b"\xff" * (film.index(b"moov") - at - 4) + film[film.index(b"moov") - 4 :]
    with pytest.raises(FieldError, match="is a broken video"):
        read_frames(spoiled, 4, LIMITS)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"most_pixels": 1000}, "is 64 x 48, more than the 1,000 pixels allowed"),
        ({"most_frames": 19}, "has more than the 19 frames allowed"),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_decoded(film, limit, reason, monkeypatch):
    monkeypatch.setattr("pairloom.kinds.clip.reading._decoded", None)
    with pytest.raises(FieldError, match=reason):
        read_frames(film, 4, Limits.of({**vars(ClipOptions()), **limit}))
