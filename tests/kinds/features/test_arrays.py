"""Array files, good and bad."""

import io
import zipfile

import numpy as np
import pytest

from pairloom.kinds.features import KIND, FeaturesOptions
from pairloom.kinds.features.arrays import checked_vectors, open_arrays
from pairloom.kinds.files import FileContent, find_part
from pairloom.kinds.kind import FieldError

VECTORS = np.arange(12, dtype=np.float16).reshape(4, 3)
TABLE = np.stack([VECTORS, VECTORS + 100])
MOST = 10_000


def npy(array, **how) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **how)
    return file.getvalue()


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def read(content, part="", **said):
    options = {**vars(FeaturesOptions()), "most_bytes": MOST, **said}
    opened = KIND.opened(content, options)
    return KIND.read(FileContent("a.npz", opened, part), options, 100).values


@pytest.mark.parametrize(
    ("content", "part"),
    [(npy(VECTORS), ""), (npz(only=VECTORS), ""), (npz(a=VECTORS, b=TABLE), "a")],
)
def test_arrays_are_found_in_each_kind_of_file(content, part):
    found = read(content, part)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, VECTORS)


def test_of_one_array_of_all_a_row_is_found_by_its_name():
    content = npz(ids=np.array(["x", "y"]), features=TABLE)
    table = {"array": "features", "names": "ids"}
    np.testing.assert_array_equal(read(content, "y", **table), TABLE[1])
    np.testing.assert_array_equal(read(content, "1", array="features"), TABLE[1])


def test_one_vector_is_a_time_of_one():
    assert read(npy(np.ones(3))).shape == (1, 3)


def broken_member() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.npy", b"no array")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "part", "said", "reason"),
    [
        (b"nonsense", "", {}, "is no array file: expected .npy or .npz"),
        (npy(VECTORS)[:-3], "", {}, "is a broken array"),
        (npz(a=VECTORS)[:60], "", {}, "is a broken npz file"),
        (broken_member(), "a", {}, "is a broken array"),
        (npz(a=VECTORS, b=VECTORS), "c", {}, "is missing: expected one of a, b, received `c`"),
        (npz(a=VECTORS, b=VECTORS), "", {}, "received no name behind #"),
        (npz(a=VECTORS), "x", {"array": "features"}, "must hold an array `features`"),
        (npz(a=TABLE, n=[1]), "1", {"array": "a", "names": "n"}, "a name in `n` for each of `a`"),
        (npy(np.array([{}]), allow_pickle=True), "", {}, "is a broken array: Object arrays"),
        (npy(np.array(["a"])), "", {}, "must hold real numbers, received <U1"),
        (npy(np.ones((2, 2), complex)), "", {}, "must hold real numbers, received complex128"),
        (
            npy(np.ones((2, 2, 2))),
            "",
            {},
            r"must be of shape \(time, width\), received \(2, 2, 2\)",
        ),
        (npy(np.ones((0, 3))), "", {}, r"must be of shape \(time, width\), received \(0, 3\)"),
        (npy(np.array([[1, np.nan]])), "", {}, "holds a number that is not finite"),
        (npy(np.array([[1, np.inf]])), "", {}, "holds a number that is not finite"),
        (npy(np.array([[1e300, 1]])), "", {}, "holds a number that is not finite"),
        (npy(VECTORS), "", {"width": 5}, "must hold vectors of 5 numbers, received 3"),
        (npy(VECTORS), "", {"at_most": 3}, "holds 4 vectors, more than 3"),
        (npy(np.ones(MOST)), "", {}, "holds more than the 10,000 bytes allowed"),
        (npz(a=np.ones(MOST)), "a", {}, "holds more than the 10,000 bytes allowed, in `a`"),
    ],
)
def test_what_is_wrong_is_said(content, part, said, reason):
    with pytest.raises(FieldError, match=reason):
        read(content, part, **said)


def test_a_header_that_lies_about_its_size_allocates_nothing():
    content = npy(VECTORS).replace(b"(4, 3)", b"(400000000000, 3)"[:17].ljust(6))
    with pytest.raises(FieldError):
        open_arrays(content, MOST)


@pytest.mark.parametrize(
    ("template", "expected"),
    [("{}", ("a/b.avi", "")), ("x.npz#{stem}", ("x.npz", "a/b")), ("{stem}.npy", ("a/b.npy", ""))],
)
def test_a_path_is_made_of_what_a_row_holds(template, expected):
    assert find_part("a/b.avi", template, has_parts=True) == expected


def test_without_parts_the_mark_is_a_sign_like_others():
    assert find_part("a#1.jpg", "{}", has_parts=False) == ("a#1.jpg", "")


def test_the_first_good_row_settles_the_width():
    options = vars(FeaturesOptions())
    value = KIND.read(FileContent("a", open_arrays(npy(VECTORS), MOST)), options, 100)
    assert KIND.settled(value, options) == {"width": 3, "settled": True}
    with pytest.raises(FieldError, match="as the first good row of train does, received 3"):
        read(npy(VECTORS), width=2, settled=True)


def test_whole_numbers_are_numbers():
    assert checked_vectors(np.array([[1, 2]])).dtype == np.float32


@pytest.mark.parametrize(
    ("value", "one"),
    [
        (VECTORS, True),
        (VECTORS.tolist(), True),
        ("a.npy", True),
        (TABLE, False),
        ([VECTORS, VECTORS[:2]], False),
        (["a.npy"], False),
    ],
)
def test_one_value_is_told_from_several(value, one):
    assert KIND.is_one(value) is one


def test_a_client_gives_arrays_lists_and_files(tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(npz(a=VECTORS, b=TABLE))
    for value in (VECTORS, VECTORS.tolist(), f"{path}#a"):
        np.testing.assert_array_equal(KIND.serve(value), VECTORS)
    for value, reason in ((["x"], "must hold real"), (tmp_path / "no.npy", "cannot be read")):
        with pytest.raises(FieldError, match=reason):
            KIND.serve(value)
    with pytest.raises(FieldError, match="must hold|inhomogeneous"):
        KIND.serve([[1, 2], [1]])
