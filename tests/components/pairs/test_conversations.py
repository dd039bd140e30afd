import pytest

from pairloom.components.pairs.errors import DataError

TEXTS = {"said": {"kind": "texts"}, "reply": {"kind": "text"}}
TEXT = {"said": {"kind": "text"}, "reply": {"kind": "text"}}
LINES = "a . __eou__ b ? __eou__ c ! __eou__ d __eou__\n"


def talk(read, fields=TEXTS, **data):
    return read(fields=fields, output="reply", format="conversations", train="d.txt", **data)


def test_every_utterance_but_the_first_answers_those_before(write, read):
    write("d.txt", LINES)
    good, rejected = talk(read)
    assert [pair.values for pair in good] == [
        (["a ."], "b ?"),
        (["a .", "b ?"], "c !"),
        (["a .", "b ?", "c !"], "d"),
    ]
    assert {pair.line for pair in good} == {1}
    assert rejected == []


@pytest.mark.parametrize(("context", "before"), [(1, ["c !"]), (2, ["b ?", "c !"])])
def test_the_context_is_the_last_utterances(write, read, context, before):
    write("d.txt", LINES)
    assert talk(read, options={"context": context})[0][-1].values == (before, "d")


def test_a_context_can_be_one_string(write, read):
    write("d.txt", LINES)
    good, _ = talk(read, TEXT, options={"joined": True, "context": 2})
    assert [pair.values[0] for pair in good] == ["a .", "a . b ?", "b ? c !"]


def test_the_separator_may_be_another_and_need_not_end_the_line(write, read):
    write("d.txt", "a|b|c\n")
    good, _ = talk(read, options={"separator": "|"})
    assert [pair.values[1] for pair in good] == ["b", "c"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"a __eou__ __eou__ c __eou__", "utterance 2 is empty"),
        (b"__eou__ b __eou__", "utterance 1 is empty"),
        (b"a __eou__ b __eou__ __eou__", "utterance 3 is empty"),
        (b"", "line is empty"),
        (b"__eou__", "utterance 1 is empty"),
        (b"a __eou__", "expected at least two utterances, received 1"),
        (b"a __eou__ \xff __eou__", "line is not valid UTF-8"),
    ],
)
def test_a_bad_conversation_is_one_rejection_and_the_next_is_read(write, read, line, reason):
    write("d.txt", line + b"\na __eou__ b __eou__\n")
    good, rejected = talk(read)
    assert [pair.values for pair in good] == [(["a"], "b")]
    assert [(row.line, row.reason) for row in rejected] == [(1, reason)]


def test_a_list_of_utterances_is_no_single_text(write, read):
    write("d.txt", "a __eou__ b __eou__\n")
    good, rejected = talk(read, TEXT)
    assert good == []
    assert [(row.reason, row.text) for row in rejected] == [
        ("said must be a string, received list", '["a"]\tb')
    ]


@pytest.mark.parametrize("chunk_bytes", [2**62, 200])
def test_a_conversation_stays_on_one_side(write, read, chunk_bytes):
    # All of them begin alike: the conversation counts, not what a row holds.
    write("d.txt", "".join(f"Hi __eou__ Oh __eou__ {i} __eou__\n" for i in range(200)))
    good, _ = talk(read, chunk_bytes=chunk_bytes)
    sides = {}
    for pair in good:
        assert sides.setdefault(pair.line, pair.split) == pair.split
    assert len(good) == 400
    assert {*sides.values()} == {"train", "eval", "test"}


def test_conversations_that_the_test_has_are_left_out_as_a_whole(write, read):
    write("d.txt", "a __eou__ b __eou__ c\nx __eou__ b __eou__ c\na __eou__ b\n")
    write("t.txt", "a  __eou__ b __eou__ c __eou__\n")
    good, _ = talk(read, eval="t.txt", test="t.txt", disjoint=True)
    assert [pair.line for pair in good if pair.split == "train"] == [2, 2, 3]


@pytest.mark.parametrize("fields", [{"reply": {}}, {"a": {}, "b": {}, "reply": {}}])
def test_there_must_be_two_fields(write, read, fields):
    write("d.txt", LINES)
    with pytest.raises(
        DataError, match="`conversations` has two fields: what was said before, the"
    ):
        talk(read, fields)
