import io

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image, ImageOps

from pairloom.kinds.image import ImageOptions
from pairloom.kinds.image.graph import Graph
from pairloom.models.repeated import Repeated

HEIGHT, WIDTH = 12, 16


def graph(**options):
    return Graph("photo", {**vars(ImageOptions(height=HEIGHT, width=WIDTH)), **options}, b"")


@pytest.fixture(scope="module")
def decode():
    """`decode(content)`: the pixels, by a graph of its own as a server runs it."""
    made = graph()
    run = tf.function(made.tensor, input_signature=[made.served_spec()], autograph=False)
    return lambda content: run(tf.constant([content]))[0].numpy().astype(int)


def wanted(image, size=(WIDTH, HEIGHT)):
    return np.asarray(image.convert("RGB").resize(size, Image.Resampling.BILINEAR)).astype(int)


def opened(content):
    return Image.open(io.BytesIO(content))


@pytest.mark.parametrize(
    "form, settings",
    [
        ("JPEG", {"quality": 95}),
        ("JPEG", {"quality": 95, "mode": "L"}),
        ("JPEG", {"quality": 95, "progressive": True}),
        ("PNG", {}),
        ("PNG", {"mode": "P"}),
        ("PNG", {"mode": "L"}),
        ("PNG", {"mode": "1"}),
        ("PNG", {"mode": "P", "bits": 4, "colors": 16}),
        ("PNG", {"size": (1, 1)}),
        ("PNG", {"size": (3, 200)}),
        ("PNG", {"size": (500, 400)}),
        ("GIF", {"mode": "P"}),
        ("BMP", {}),
    ],
)
def test_pixels_are_those_of_pillow(make, decode, form, settings):
    content = make(form, **settings)
    assert abs(decode(content) - wanted(opened(content))).max() <= 2


def test_four_inks_are_the_colors_they_print(make, decode, picture):
    content = make("JPEG", mode="CMYK", quality=95)
    assert abs(decode(content) - wanted(Image.fromarray(picture))).mean() < 4


def test_sixteen_bits_become_eight(decode):
    grey = np.linspace(0, 65535, HEIGHT * WIDTH).astype("uint16").reshape(HEIGHT, WIDTH)
    with io.BytesIO() as file:
        Image.fromarray(grey).save(file, "PNG")
        found = decode(file.getvalue())
    assert abs(found - (grey // 257)[..., None]).max() <= 1


def test_what_is_transparent_is_white_and_its_color_does_not_show(decode):
    pixels = np.zeros((HEIGHT, WIDTH, 4), "uint8")
    pixels[:, : WIDTH // 2] = (200, 10, 10, 255)
    pixels[:, WIDTH // 2 :] = (0, 0, 0, 0)
    image = Image.fromarray(pixels)
    with io.BytesIO() as file:
        image.save(file, "PNG")
        found = decode(file.getvalue())
    assert (found[:, : WIDTH // 2] == (200, 10, 10)).all()
    assert (found[:, WIDTH // 2 :] == 255).all()
    half = np.array([[[100, 50, 0, 128]]], "uint8").repeat(HEIGHT, 0).repeat(WIDTH, 1)
    with io.BytesIO() as file:
        Image.fromarray(half).save(file, "PNG")
        found = decode(file.getvalue())
    assert abs(found[0, 0] - np.array([177, 152, 127])).max() <= 1


@pytest.mark.parametrize("tag", range(1, 9))
@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_photos_stand_upright(make, decode, tag, order):
    exif = Image.Exif()
    exif.endian = order
    exif[0x010F] = "A camera's name that is longer than four bytes"
    exif[0x0112] = tag
    content = make("JPEG", quality=95, exif=exif)
    upright = ImageOps.exif_transpose(opened(content))
    assert abs(decode(content) - wanted(upright)).max() <= 3


def test_a_tag_behind_other_segments_is_found(make, decode):
    exif = Image.Exif()
    exif[0x0112] = 6
    content = make("JPEG", quality=95, exif=exif)
    filler = b"\xff\xe2" + (60_000).to_bytes(2, "big") + bytes(59_998)
    shifted = content[:2] + filler + content[2:]
    np.testing.assert_array_equal(decode(shifted), decode(content))


@pytest.mark.parametrize(
    "exif",
    [
        b"Exif\0\0",
        b"Exif\0\0II*\0\xff\xff\xff\xff",
        b"Exif\0\0II*\0\x08\0\0\0\xff\xff",
        b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x63\0\0\0",
    ],
    ids=["empty", "nowhere", "too-many", "of-no-meaning"],
)
def test_a_broken_tag_leaves_the_photo_as_it_is(make, decode, exif):
    content = make("JPEG", quality=95)
    segment = b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif
    np.testing.assert_array_equal(decode(content[:2] + segment + content[2:]), decode(content))


@pytest.mark.parametrize("count", [1, 3])
def test_the_first_frame_counts(picture, decode, count):
    frames = [Image.fromarray(np.roll(picture, 9 * n, 1)).quantize(64) for n in range(count)]
    with io.BytesIO() as file:
        frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], comment=b"x" * 600)
        content = file.getvalue()
    assert abs(decode(content) - wanted(frames[0])).max() <= 2


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "BMP"])
def test_large_images_are_refused_by_their_header(make, form):
    content = make(form, mode="P" if form == "GIF" else "RGB")
    small = graph(most_pixels=40 * 30 - 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most 1,199 pixels"):
        tf.function(small.tensor, autograph=False)(tf.constant([content]))
    graph(most_pixels=40 * 30).tensor(tf.constant([content]))


@pytest.mark.parametrize("content", [b"", b"x", b"\xff\xd8", b"\x89P", b"GIF89a", b"BM", b"text"])
def test_what_is_no_image_is_an_error(decode, content):
    with pytest.raises(tf.errors.InvalidArgumentError):
        decode(content)


def test_a_batch_of_the_column_is_the_tensor_of_what_is_served(make, stored_column):
    made = graph()
    kinds = [make("JPEG"), make("PNG"), make("PNG", size=(5, 9)), make("JPEG"), make("PNG")]
    values = tf.constant(kinds)
    column = stored_column(made, values)
    batch = column.batch(np.array([4, 0, 2, 3]))
    assert isinstance(batch, Repeated) and len(batch.values) == 3
    expected = made.tensor(tf.gather(values, [4, 0, 2, 3])).numpy()
    np.testing.assert_array_equal(batch.values[batch.rows], expected)
    assert column.extents().tolist() == [[1]] * 5
    np.testing.assert_array_equal(made.tensor(made.values(expected)), expected)


def test_only_training_sees_other_pictures(make):
    made = graph(flip=True, crop=0.3, color=0.3)
    images = made.tensor(tf.constant([make("PNG")] * 6))
    assert made.corrupted(images) is images
    seeds = [tf.constant([7, step], tf.int64) for step in (1, 1, 2)]
    first, again, other = (made.corrupted(images, seed).numpy() for seed in seeds)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any() and (first[0] != first[1]).any()
    assert first.min() >= 0 and first.max() <= 255
    assert graph().corrupted(images, seeds[0]) is images


def test_flipping_turns_left_to_right_about_half(make):
    made = graph(flip=True)
    images = made.tensor(tf.constant([make("PNG")] * 200))
    flipped = made.corrupted(images, tf.constant([1, 1], tf.int64)).numpy()
    plain = images.numpy()
    turned = [(one == plain[0, :, ::-1]).all() for one in flipped]
    kept = [(one == plain[0]).all() for one in flipped]
    assert 70 < sum(turned) < 130 and sum(turned) + sum(kept) == 200


def test_what_a_client_must_know(make):
    told = graph().description()
    assert told == {"height": 12, "width": 16, "most_bytes": 10 * 2**20, "most_pixels": 50_000_000}
