from pairloom.components.report.settings import MISSING, differences, flat


def test_settings_are_named_as_on_the_command_line():
    settings = {"name": "a", "data": {"split": {"eval": 0.1}, "columns": {}}, "inputs": ["x"]}
    assert flat(settings) == {
        "name": "a", "data.split.eval": 0.1, "data.columns": {}, "inputs": ["x"],
    }  # fmt: skip


def test_equal_settings_do_not_differ():
    assert differences({"a": {"b": 1}}, {"a": {"b": 1}}) == {}


def test_a_setting_that_one_has_not_differs():
    assert differences({"a": {"b": 1}}, {"a": {"c": 2}}) == {
        "a.b": (1, MISSING), "a.c": (MISSING, 2),
    }  # fmt: skip
    assert differences({"a": None}, {}) == {"a": (None, MISSING)}
