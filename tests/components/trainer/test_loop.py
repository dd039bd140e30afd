import dataclasses
import os
import signal
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from pairloom.components.trainer import progress
from pairloom.components.trainer.loop import TrainingDivergedError, TrainingLoop
from pairloom.components.trainer.run import build_model
from pairloom.components.trainer.settings import EarlyStopping, TrainingSettings
from pairloom.models.losses import doubly_stochastic

MODEL = {
    "encoders": {"source": {"type": "tokens", "units": 32, "embedding_units": 16, "dropout": 0.1}},
    "decoder": {"type": "recurrent", "units": 32, "embedding_units": 16, "dropout": 0.1},
    "tied": "none",
}
BLOCKS = {"type": "transformer", "units": 32, "layers": 1, "heads": 4, "feed_forward": 64}
TRANSFORMER = {"encoders": {"source": BLOCKS}, "decoder": BLOCKS, "tied": "all"}
MODELS = pytest.mark.parametrize("model", [MODEL, TRANSFORMER], ids=["recurrent", "transformer"])
SETTINGS = TrainingSettings(
    epochs=2,
    batch_tokens=64,
    learning_rate=0.01,
    warmup_steps=10,
    average=0.9,
    checkpoint_every=10,
    early_stopping=EarlyStopping(patience=0),
)


def make_loop(pair_files, folder, model=MODEL, strategy=None, log_folder=None, **settings):
    keras.utils.set_random_seed(1)
    output = pair_files.output()
    with (strategy or tf.distribute.get_strategy()).scope():
        built = build_model(model, pair_files.inputs(), output.graph)
    return TrainingLoop(
        built,
        output,
        dataclasses.replace(SETTINGS, **settings),
        *pair_files.pairs(),
        str(folder),
        strategy=strategy,
        log_folder=log_folder,
    )


def without_dropout(model):
    encoders = {name: {**part, "dropout": 0.0} for name, part in model["encoders"].items()}
    return {**model, "encoders": encoders, "decoder": {**model["decoder"], "dropout": 0.0}}


def weights_of(loop):
    return np.concatenate([np.ravel(w) for w in loop.model.get_weights()])


@MODELS
def test_training_learns_to_look_at_the_source(pair_files, tmp_path, model):
    loop = make_loop(pair_files, tmp_path / "checkpoints", model, epochs=12)
    result = loop.run()
    assert np.mean(loop.losses[:5]) > 2.0
    assert result.best < 0.8
    assert result.steps == len(loop.losses) == 12 * loop.steps_per_epoch


@pytest.mark.parametrize("mode", ["hard", "straight_through"])
def test_attention_that_draws_learns_where_to_look(mode, pair_files, tmp_path):
    model = {**MODEL, "decoder": {**MODEL["decoder"], "mode": mode}}
    loop = make_loop(pair_files, tmp_path / "checkpoints", model, epochs=16)
    result = loop.run()
    without_looking = 2.0  # the logarithm of the eight ids, and of the end, is 2.1
    assert result.best < 0.5 * without_looking


def test_coverage_makes_every_position_be_looked_at(pair_files, tmp_path):
    missed = {}
    for weight in (0.0, 1.0):
        loop = make_loop(pair_files, tmp_path / str(weight), epochs=4, coverage=weight)
        loop.run()
        source = np.array([[4, 5, 6, 7, 8, 9]])
        _, weights = loop.model({"source": source}, np.array([[2, 9, 8, 7, 6, 5]]))
        missed[weight] = float(doubly_stochastic(weights)[0])
    assert missed[1.0] < 0.7 * missed[0.0]


def test_scheduled_sampling_trains_too(pair_files, tmp_path):
    loop = make_loop(pair_files, tmp_path / "sampled", epochs=12, scheduled_sampling=0.3)
    plain = make_loop(pair_files, tmp_path / "plain", epochs=12)
    assert loop.run().best < 1.0
    plain.run()
    # The share grows from nothing: after the warm-up the losses part.
    assert loop.losses[:10] != loop.losses[10:20]
    assert np.mean(loop.losses[-20:]) > np.mean(plain.losses[-20:])


def test_the_same_seed_gives_the_same_losses(pair_files, tmp_path):
    first = make_loop(pair_files, tmp_path / "a")
    first.run()
    second = make_loop(pair_files, tmp_path / "b")
    second.run()
    assert first.losses[:50] == second.losses[:50]
    assert len(first.losses) >= 50


@pytest.mark.parametrize("settings", [{}, {"scheduled_sampling": 0.5}], ids=["plain", "sampled"])
def test_a_resumed_training_is_the_training_that_was_never_stopped(
    pair_files, tmp_path, stop_after, settings
):
    whole = make_loop(pair_files, tmp_path / "whole", epochs=1, **settings)
    whole.run()
    stop_after(make_loop(pair_files, tmp_path / "stopped", epochs=1, **settings), 25)
    resumed = make_loop(pair_files, tmp_path / "stopped", epochs=1, **settings)
    resumed.run()
    assert resumed.losses == whole.losses[25:]
    np.testing.assert_array_equal(weights_of(resumed), weights_of(whole))


def test_a_stop_in_the_last_evaluation_neither_loses_it_nor_trains_more(pair_files, tmp_path):
    whole = make_loop(pair_files, tmp_path / "whole")
    expected = whole.run()

    stopped = make_loop(pair_files, tmp_path / "stopped")
    evaluate = stopped._evaluate

    def interrupted():
        if stopped.position["step"] == 2 * stopped.steps_per_epoch:
            raise KeyboardInterrupt
        evaluate()

    stopped._evaluate = interrupted
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    resumed = make_loop(pair_files, tmp_path / "stopped")
    result = resumed.run()
    assert resumed.losses == []
    assert result.steps == expected.steps
    np.testing.assert_allclose(result.best, expected.best, rtol=1e-5)


def test_a_stop_in_the_midst_of_an_evaluation_leaves_it_to_be_done(pair_files, tmp_path):
    def evaluating(folder, stop_at=None):
        loop = make_loop(pair_files, tmp_path / folder, epochs=1, evaluate_every=10)
        evaluate, steps = loop._evaluate, []

        def noted():
            if loop.position["step"] == stop_at:
                raise KeyboardInterrupt
            steps.append(int(loop.position["step"]))
            evaluate()

        loop._evaluate = noted
        return loop, steps

    whole, every = evaluating("whole")
    whole.run()
    stopped, before = evaluating("stopped", stop_at=20)
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    resumed, after = evaluating("stopped")
    resumed.run()
    assert before + after == every
    assert 20 in after


def test_the_last_steps_are_evaluated_too(pair_files, tmp_path):
    loop = make_loop(pair_files, tmp_path / "checkpoints", epochs=1, evaluate_every=20)
    at = []
    evaluate = loop._evaluate

    def noted():
        at.append(int(loop.position["step"]))
        evaluate()

    loop._evaluate = noted
    loop.run()
    last = loop.steps_per_epoch
    assert last % 20 and at == [*range(20, last, 20), last]


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from conftest import PairFiles
from test_loop import make_loop
loop = make_loop(PairFiles(sys.argv[2], sys.argv[3]), sys.argv[4], epochs=50)
step = loop._train_step
def told(inputs, target):
    print(int(loop.position["step"]), flush=True)
    return step(inputs, target)
loop._train_step = told
loop.run()
"""


@pytest.mark.parametrize(
    ("every", "seconds", "expected"),
    [(10, 0.0, [10, 20, 25]), (0, 1e-9, [*range(1, 26)]), (0, 1e9, [25]), (0, 0.0, [25])],
)
def test_checkpoints_come_by_steps_by_time_or_at_the_end_alone(
    pair_files, tmp_path, stop_after, every, seconds, expected
):
    loop = make_loop(pair_files, tmp_path / "a", checkpoint_every=every, checkpoint_seconds=seconds)
    saved, save = [], loop._checkpoints.save
    loop._checkpoints.save = lambda step: (saved.append(step), save(step))
    stop_after(loop, 25)
    assert saved == expected


@pytest.mark.slow
def test_a_killed_training_goes_on_from_its_last_checkpoint(pair_files, tmp_path):
    folder = os.path.dirname(__file__)
    files = [pair_files.train, pair_files.held_out]
    command = [sys.executable, "-c", KILLED, folder, *files, str(tmp_path / "killed")]

    def run_until(step):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            lines = []
            for line in process.stdout:
                lines.append(int(line))
                if lines[-1] >= step:
                    process.send_signal(signal.SIGKILL)
                    break
        return lines

    assert run_until(35)[0] == 0
    assert run_until(45)[0] == 30


def test_early_stopping_keeps_the_best_weights(pair_files, tmp_path):
    loop = make_loop(
        pair_files,
        tmp_path / "checkpoints",
        epochs=50,
        learning_rate=0.0,
        average=0.0,
        early_stopping=EarlyStopping(patience=2),
    )
    before = weights_of(loop)
    result = loop.run()
    # Nothing improves after the first evaluation, so the third is the last.
    assert result.steps == 3 * loop.steps_per_epoch
    np.testing.assert_array_equal(weights_of(loop), before)


def test_a_finished_training_is_not_gone_on_with(pair_files, tmp_path):
    first = make_loop(pair_files, tmp_path / "checkpoints", epochs=1)
    first.run()
    again = make_loop(pair_files, tmp_path / "checkpoints", epochs=1)
    assert again.run().steps == first.steps_per_epoch
    assert again.losses == []
    np.testing.assert_array_equal(weights_of(again), weights_of(first))


def test_a_time_limit_ends_the_training(pair_files, tmp_path):
    loop = make_loop(pair_files, tmp_path / "checkpoints", epochs=10_000, minutes=0.05)
    result = loop.run()
    assert 3 <= result.seconds < 30


def test_steps_end_the_training_and_the_decay(pair_files, tmp_path):
    loop = make_loop(pair_files, tmp_path / "checkpoints", epochs=100, steps=13)
    assert loop.total_steps == 13
    assert loop.run().steps == 13
    assert loop.position["evaluated"] == 13
    assert make_loop(pair_files, tmp_path / "checkpoints", epochs=100, steps=13).run().steps == 13


def test_more_steps_than_the_epochs_have_change_nothing(pair_files, tmp_path):
    loop = make_loop(pair_files, tmp_path / "checkpoints", epochs=1, steps=10_000)
    assert loop.total_steps == loop.run().steps == loop.steps_per_epoch


def test_how_long_it_takes_is_remarked(pair_files, tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr(progress, "remarks", said.append)
    loop = make_loop(pair_files, tmp_path / "checkpoints", epochs=100_000, steps=30)
    # As if there were more to do than there is.
    loop._estimate.steps = 1_000_000
    loop._part = "model 2 of 4"
    loop.run()
    [words] = said
    assert words.startswith("model 2 of 4: training will take about ")


def test_the_rate_decays_to_the_end_that_the_time_allows(pair_files, tmp_path):
    loop = make_loop(pair_files, tmp_path / "checkpoints", epochs=100, minutes=1)
    loop.position["step"], loop.position["seconds"] = 30, 45.0
    loop._plan()
    assert loop.total_steps == 40
    loop.position["seconds"] = 0.001
    loop._plan()
    assert loop.total_steps == 100 * loop.steps_per_epoch


def test_accumulated_gradients_move_the_weights_every_other_step(pair_files, tmp_path):
    loop = make_loop(pair_files, tmp_path / "checkpoints", accumulate=2, average=0.0)
    batches = iter(loop._batches(0))
    start = weights_of(loop)
    loop._train_step(*next(batches))
    np.testing.assert_array_equal(weights_of(loop), start)
    loop._train_step(*next(batches))
    assert np.abs(weights_of(loop) - start).max() > 0


@MODELS
@pytest.mark.parametrize("precision", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_learns(pair_files, tmp_path, model, precision):
    keras.config.set_dtype_policy(precision)
    try:
        loop = make_loop(pair_files, tmp_path / "checkpoints", model, precision=precision)
        loop.run()
    finally:
        keras.config.set_dtype_policy("float32")
    assert np.mean(loop.losses[-5:]) < np.mean(loop.losses[:5])


@MODELS
def test_products_in_bfloat16_leave_weights_and_losses_in_float32(pair_files, tmp_path, model):
    loops = {
        name: make_loop(pair_files, tmp_path / name, without_dropout(model), precision=name)
        for name in ("float32", "bfloat16_products")
    }
    for loop in loops.values():
        loop.run()
    wide, narrow = (loop.losses for loop in loops.values())
    assert {weight.dtype for weight in loops["bfloat16_products"].model.weights} == {"float32"}
    assert wide[0] != narrow[0]
    np.testing.assert_allclose(narrow[0], wide[0], rtol=0.02)
    np.testing.assert_allclose(np.mean(narrow[-5:]), np.mean(wide[-5:]), rtol=0.1)


@MODELS
def test_xla_gives_the_same_losses_and_gradients(pair_files, tmp_path, model):
    loop = make_loop(pair_files, tmp_path / "xla", without_dropout(model), xla=True)
    for inputs, target in loop._batches(0).take(3):
        given = (inputs, target, tf.constant(0.01), loop._noise_seed())
        loss, units, gradients = loop._compiled_gradients(*given)
        expected = loop._gradients(*given)
        np.testing.assert_allclose(loss, expected[0], rtol=1e-5)
        assert units == expected[1]
        for gradient, wanted in zip(gradients, expected[2]):
            wanted = tf.convert_to_tensor(wanted)
            np.testing.assert_allclose(tf.convert_to_tensor(gradient), wanted, atol=1e-4)
        loop._train_step(inputs, target)


def test_a_loss_that_is_no_number_stops_with_advice(pair_files, tmp_path):
    loop = make_loop(
        pair_files, tmp_path / "checkpoints", learning_rate=float("inf"), clip_norm=0.0
    )
    with pytest.raises(TrainingDivergedError, match="smaller `training.learning_rate`"):
        loop.run()


def test_progress_reaches_the_listener(pair_files, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(progress, "listener", seen.append)
    loop = make_loop(pair_files, tmp_path / "checkpoints", epochs=4)
    loop.run()
    assert seen and all(p.units_per_second > 0 and p.unit == "tokens" for p in seen)
    assert [p.step for p in seen] == sorted(p.step for p in seen)
    assert seen[-1].total_steps == loop.total_steps
    # The first steps trace, and tell nothing of the time that is left.
    assert seen[0].seconds_left == 0.0


def test_tensorboard_logs_are_written(pair_files, tmp_path):
    logs = str(tmp_path / "logs")
    make_loop(pair_files, tmp_path / "checkpoints", log_folder=logs, epochs=1).run()
    (events,) = (tmp_path / "logs").iterdir()
    tags = {
        v.tag for e in tf.compat.v1.train.summary_iterator(str(events)) for v in e.summary.value
    }
    assert "eval_loss" in tags


DISTRIBUTED = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, tensorflow as tf
from pairloom.components.trainer.devices import choose_strategy, reserve_devices
reserve_devices("cpu:2")
tf.constant(1) + 1  # As the nodes before the trainer do, in the same process.
strategy = choose_strategy("cpu:2")
from conftest import PairFiles
from test_loop import MODEL, make_loop, without_dropout
losses = []
for number, chosen in enumerate([strategy, tf.distribute.get_strategy()]):
    loop = make_loop(
        PairFiles(sys.argv[2], sys.argv[3]),
        f"{sys.argv[4]}{number}",
        without_dropout(MODEL),
        chosen,
        epochs=1,
        clip_norm=0.0,
    )
    loop.run()
    losses.append(loop.losses)
assert strategy.num_replicas_in_sync == 2
np.testing.assert_allclose(losses[0], losses[1], rtol=2e-3)
print("same")
"""


@pytest.mark.slow
def test_two_devices_give_the_losses_of_one(pair_files, tmp_path):
    files = [pair_files.train, pair_files.held_out]
    command = [sys.executable, "-c", DISTRIBUTED, os.path.dirname(__file__), *files]
    result = subprocess.run(
        [*command, str(tmp_path / "checkpoints")], capture_output=True, text=True, timeout=300
    )
    assert result.stdout.strip().endswith("same"), result.stderr[-3000:]
