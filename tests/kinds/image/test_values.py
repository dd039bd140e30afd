import io
import struct
import zlib

import pytest
from PIL import Image

from pairloom.kinds import FieldError, find_kind
from pairloom.kinds.files import FileContent
from pairloom.kinds.image import ImageOptions

KIND = find_kind("image")
OPTIONS = dict(vars(ImageOptions()))


def read(content, **options):
    return KIND.read(FileContent("photo.jpg", content), {**OPTIONS, **options}, 100)


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png_header(width, height):
    """A PNG that says how large it is, and holds next to nothing."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.mark.parametrize(
    "form, settings",
    [
        ("JPEG", {}),
        ("JPEG", {"mode": "L"}),
        ("JPEG", {"mode": "CMYK"}),
        ("JPEG", {"progressive": True}),
        ("PNG", {}),
        ("PNG", {"mode": "P"}),
        ("PNG", {"mode": "RGBA"}),
        ("PNG", {"mode": "LA"}),
        ("PNG", {"mode": "1"}),
        ("PNG", {"mode": "I;16"}),
        ("PNG", {"size": (1, 1)}),
        ("GIF", {"mode": "P"}),
        ("BMP", {}),
    ],
)
def test_images_are_read_whatever_their_name(make, form, settings):
    content = make(form, **settings)
    value = read(content)
    assert value.content == content
    assert KIND.show(value) == "photo.jpg"
    assert KIND.key(value) == KIND.key(FileContent("other.png", content))
    assert KIND.key(value) != KIND.key(FileContent("photo.jpg", content + b"\0"))


def test_an_animated_gif_is_read_for_its_first_frame():
    frames = [Image.new("P", (9, 9), n) for n in range(3)]
    with io.BytesIO() as file:
        frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
        read(file.getvalue())


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"", "is no image: expected JPEG, PNG, GIF or BMP"),
        (b"no picture at all", "is no image"),
        (b"\xff\xd8\xff\xe0", "is no image|broken"),
        (b"%PDF-1.4", "is no image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is no image"),
        (png_header(20_000, 20_000), "20,000 x 20,000, more than the 50,000,000 pixels|has more"),
        (png_header(10_000, 6_000), "10,000 x 6,000, more than the 50,000,000 pixels allowed"),
        (png_header(10, 10), "is a broken image"),
    ],
)
def test_what_is_no_image_is_a_reason(content, reason):
    with pytest.raises(FieldError, match=reason):
        read(content)


@pytest.mark.parametrize("form", ["WEBP", "TIFF", "PPM"])
def test_forms_that_the_graph_cannot_decode_are_named(make, form):
    with pytest.raises(FieldError, match=f"is a {form} image: expected JPEG, PNG, GIF or BMP"):
        read(make(form))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "BMP"])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_cut_off_images_are_rejected(make, form, share):
    content = make(form, mode="P" if form == "GIF" else "RGB")
    with pytest.raises(FieldError, match="broken|no image"):
        read(content[: int(share * len(content))])


def test_a_bmp_of_few_colors_is_told_what_to_become(make):
    with pytest.raises(FieldError, match="24 plain bits a pixel: save it as PNG"):
        read(make("BMP", mode="P"))


def test_what_is_sent_to_a_model(make, tmp_path):
    content = make("PNG")
    (tmp_path / "photo.png").write_bytes(content)
    for value in (content, bytearray(content), tmp_path / "photo.png", f"{tmp_path}/photo.png"):
        assert KIND.is_one(value)
        assert KIND.serve(value) == content
    with pytest.raises(FieldError, match="cannot be read, .*absent.png`: No such file"):
        KIND.serve(tmp_path / "absent.png")
    with pytest.raises(FieldError, match="paths of images, or their bytes. Received: int"):
        KIND.serve(7)
