from pairloom.components.trainer.estimate import Estimate


def told(estimate, seconds, steps=60, first=0, spent=0.0):
    """All that is said in so many steps of so many seconds; the first one traces."""
    words = []
    for number in range(1, steps + 1):
        taken = 30.0 if number == 1 else seconds
        spent += taken
        words.append(estimate.add(taken, first + number, spent))
    return [one for one in words if one]


def test_the_time_is_told_once_and_by_steps_that_do_not_trace():
    [words] = told(Estimate(9_780), 0.25)
    assert words == "training will take about 41 min for 9,757 steps, by 20 steps of 0.25 s"


def test_slow_steps_are_told_of_before_there_are_many():
    [words] = told(Estimate(1_000), 6.0, steps=6)
    assert words.startswith("training will take about 1 h 40 min for 995 steps, by 2 steps of 6 s")


def test_a_training_that_goes_on_has_less_before_it():
    [words] = told(Estimate(1_000), 1.0, first=500, spent=900.0)
    assert "for 487 steps" in words


def test_of_a_short_training_nothing_is_said():
    assert told(Estimate(100), 0.1) == []


def test_minutes_that_will_cut_it_short_are_told_with_what_they_leave():
    [words] = told(Estimate(9_780, seconds=600), 0.25)
    assert "`training.minutes`, 10, will end the training near step 2,2" in words
    assert "of 9,780 on this machine" in words
    assert "a faster one gets further" in words
    assert "would take about 41 min" in words


def test_minutes_that_are_enough_are_not_spoken_of():
    [words] = told(Estimate(1_000, seconds=6000), 0.25)
    assert "minutes`" not in words
