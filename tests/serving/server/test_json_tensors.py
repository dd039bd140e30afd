import json

import numpy as np
import pytest
from tensorflow.core.framework import types_pb2 as types

from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.json_tensors import inputs_from_json, json_from_outputs, parse_body

ONE_FLOAT = {"x": types.DT_FLOAT}
TWO = {"x": types.DT_INT64, "y": types.DT_STRING}


def refused(work):
    with pytest.raises(RequestError) as caught:
        work()
    assert caught.value.code == Code.INVALID_ARGUMENT
    return caught.value.message


def test_rows_of_lists_gain_a_batch_dimension():
    arrays = inputs_from_json({"instances": [[[1], [2]], [[3], [4]]]}, ONE_FLOAT)
    np.testing.assert_array_equal(arrays["x"], np.array([[[1], [2]], [[3], [4]]], np.float32))
    assert arrays["x"].dtype == np.float32


def test_columns_keep_their_shape():
    arrays = inputs_from_json({"inputs": {"x": 7, "y": [["a"], ["b"]]}}, TWO)
    assert arrays["x"].shape == () and arrays["x"] == 7
    assert arrays["y"].tolist() == [[b"a"], [b"b"]]


def test_a_base64_object_alone_is_a_value_and_not_a_row_of_fields():
    text = {"source": types.DT_STRING}
    assert inputs_from_json({"instances": [{"b64": "/w=="}]}, text)["source"].tolist() == [b"\xff"]
    assert inputs_from_json({"inputs": {"b64": "/w"}}, text)["source"].item() == b"\xff"


def test_an_empty_column_is_an_empty_batch():
    assert inputs_from_json({"inputs": []}, {"x": types.DT_STRING})["x"].shape == (0,)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (types.DT_INT32, 2**31 - 1),
        (types.DT_INT64, -(2**63)),
        (types.DT_UINT64, 2**64 - 1),
        (types.DT_UINT32, 2**32 - 1),
        (types.DT_INT8, -5),
        (types.DT_DOUBLE, 1e300),
        (types.DT_BOOL, False),
    ],
)
def test_every_type_keeps_its_value(dtype, value):
    assert inputs_from_json({"inputs": [value]}, {"x": dtype})["x"].item() == value


@pytest.mark.parametrize(
    ("dtype", "value", "kind"),
    [
        (types.DT_FLOAT, "1", "String"),
        (types.DT_FLOAT, True, "True"),
        (types.DT_FLOAT, None, "Null"),
        (types.DT_INT32, 1.0, "Number"),
        (types.DT_INT32, 2**31, "Number"),
        (types.DT_UINT64, -1, "Number"),
        (types.DT_BOOL, 1, "Number"),
        (types.DT_STRING, 1, "Number"),
        (types.DT_INT64, {"a": 1}, "Object"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(dtype, value, kind):
    message = refused(lambda: inputs_from_json({"inputs": {"x": [value]}}, {"x": dtype}))
    assert message.startswith(f"JSON Value: {json.dumps(value)} Type: {kind} is not of expected")


def test_numbers_that_a_float_cannot_hold_are_refused():
    message = refused(lambda: inputs_from_json({"inputs": [1e39]}, ONE_FLOAT))
    assert "without loss of precision" in message
    infinite = inputs_from_json(parse_body(b'{"inputs": [Infinity, 16777215]}'), ONE_FLOAT)["x"]
    assert infinite.tolist() == [float("inf"), 2.0**24 - 1]


@pytest.mark.parametrize(
    ("document", "dtypes", "message"),
    [
        ({"instances": [[1, 2], [3]]}, ONE_FLOAT, "element: 1 of 'instances' list. Error: INVALID"),
        ({"instances": [[[1]], [[1], [2]]]}, ONE_FLOAT, "Expecting tensor size: 1 but got: 2"),
        ({"instances": [[[1, 2]], [[1], [2]]]}, ONE_FLOAT, "Expecting shape [1,2] but got: [2,1]"),
        ({"instances": [1, [2]]}, ONE_FLOAT, "Expecting shape [] but got: [1]"),
        ({"inputs": [[1], 2]}, ONE_FLOAT, "found at incorrect level: 2"),
        ({"inputs": [1, [2]]}, ONE_FLOAT, "Encountered list at unexpected level: 1"),
        ({"inputs": [[1, 2], [3]]}, ONE_FLOAT, "list at unexpected size: 1 at level: 1"),
        ({"instances": 3}, ONE_FLOAT, "Expecting 'instances' to be an list/array"),
        ({"instances": [1], "inputs": [1]}, ONE_FLOAT, "only one of 'inputs' or 'instances'"),
        ({"instances": [1]}, TWO, "instances is a plain list"),
        ({"inputs": [1]}, TWO, "inputs is a plain value/list"),
        ({"inputs": {"x": [1]}}, TWO, "Missing named input: y in 'inputs' object."),
        ({"instances": [{"x": 1}]}, TWO, "keys must be equal to: x,y"),
        ({"instances": [{"z": 1}]}, TWO, "does not have named input: z"),
        ({"instances": [{"x": 1, "y": "a"}, 3]}, TWO, "Expecting object but got list at item 1"),
        ({"instances": [1, {"x": 2}]}, ONE_FLOAT, "value/list but got object at item 1"),
        ({"inputs": [{"b64": "*"}]}, {"x": types.DT_STRING}, "Unable to base64 decode"),
        ({"inputs": [{"b65": "a"}]}, {"x": types.DT_STRING}, "formatted correctly for base64"),
        ({"inputs": ["\ud800"]}, {"x": types.DT_STRING}, "surrogate pair in string is invalid"),
    ],
)
def test_misshapen_input_is_refused_in_tf_servings_words(document, dtypes, message):
    assert message in refused(lambda: inputs_from_json(document, dtypes))


def nested(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


def test_lists_may_be_nested_as_deep_as_numpy_allows():
    assert inputs_from_json({"inputs": nested(31)}, ONE_FLOAT)["x"].shape == (1,) * 31
    assert inputs_from_json({"instances": [nested(31)]}, ONE_FLOAT)["x"].shape == (1,) * 32
    for document in ({"inputs": nested(32)}, {"instances": [nested(32)]}):
        message = refused(lambda document=document: inputs_from_json(document, ONE_FLOAT))
        assert "Expecting at most 31 levels of lists" in message


def test_a_type_without_json_is_unimplemented():
    with pytest.raises(RequestError) as caught:
        inputs_from_json({"inputs": [1]}, {"x": types.DT_COMPLEX64})
    assert caught.value.code == Code.UNIMPLEMENTED


def test_floats_are_written_short_and_exact():
    values = np.array([0.2, 1.0, 1e-30, 16777216.0, np.nan, -np.inf], np.float32)
    written = json_from_outputs({"y": values}, rows=False)
    assert b"0.2," in written and b"NaN" in written and b"-Infinity" in written
    back = np.array(json.loads(written)["outputs"], np.float32)
    np.testing.assert_array_equal(back, values)


def test_rows_need_a_common_batch():
    assert "no shape information" in refused(
        lambda: json_from_outputs({"y": np.float32(1)}, rows=True)
    )
    outputs = {"y": np.zeros(2), "z": np.zeros(3)}
    assert "inconsistent batch size: 3 expecting: 2" in refused(
        lambda: json_from_outputs(outputs, rows=True)
    )


def test_rows_and_columns_of_several_outputs():
    outputs = {"y": np.array([[1], [2]]), "z": np.array([b"a", b"b"], np.object_)}
    assert json.loads(json_from_outputs(outputs, rows=True)) == {
        "predictions": [{"y": [1], "z": "a"}, {"y": [2], "z": "b"}]
    }
    assert json.loads(json_from_outputs(outputs, rows=False)) == {
        "outputs": {"y": [[1], [2]], "z": ["a", "b"]}
    }
