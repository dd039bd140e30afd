from pairloom.serving.messages import message_classes

SCHEMA = {"Point": "x:1:int64 name:2:string", "Line": "points:1:*Point weights:3:*float"}


def test_messages_carry_scalars_lists_and_other_messages():
    line = message_classes("test.a", SCHEMA)["Line"]()
    line.points.add(x=3, name="ü")
    line.weights.extend([0.5, 1.5])
    again = type(line).FromString(line.SerializeToString())
    assert again == line
    assert [(point.x, point.name) for point in again.points] == [(3, "ü")]


def test_fields_that_are_not_declared_are_passed_over():
    line = message_classes("test.b", SCHEMA)["Line"]()
    line.points.add(x=3)
    line.weights.append(0.5)
    part = message_classes("test.b", {"Line": "weights:3:*float"})["Line"]
    assert list(part.FromString(line.SerializeToString()).weights) == [0.5]


def test_the_wire_is_the_official_one():
    from google.protobuf import wrappers_pb2

    ours = message_classes("test.c", {"Int64Value": "value:1:int64"})["Int64Value"](value=-5)
    assert wrappers_pb2.Int64Value.FromString(ours.SerializeToString()).value == -5
