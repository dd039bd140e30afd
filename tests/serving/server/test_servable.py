import pytest

from pairloom.serving.server.servable import Servable


class Model:
    closed = 0

    def close(self):
        self.closed += 1


@pytest.fixture
def servable():
    return Servable("m", 1, Model())


def test_an_idle_servable_closes_when_it_retires(servable):
    said = []
    servable.retire(lambda: said.append("closed"))
    assert (servable.model.closed, said) == (1, ["closed"])


def test_the_last_user_closes_a_retired_servable(servable):
    said = []
    servable.acquire()
    servable.acquire()
    with servable.in_use():
        with servable.in_use():
            servable.retire(lambda: said.append("closed"))
            assert servable.model.closed == 0
        assert servable.model.closed == 0
    assert (servable.model.closed, said) == (1, ["closed"])


def test_a_user_that_fails_is_counted_off_too(servable):
    servable.acquire()
    with pytest.raises(KeyError), servable.in_use():
        servable.retire(lambda: None)
        raise KeyError
    assert servable.model.closed == 1
