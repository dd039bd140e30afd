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
from pairloom.components.trainer.batches import Pairs
from pairloom.components.trainer.loop import TrainingDivergedError, TrainingLoop
from pairloom.components.trainer.run import build_model
from pairloom.components.trainer.settings import EarlyStopping, TrainingSettings
from pairloom.models.losses import doubly_stochastic

MODEL = {
    "encoder": {"type": "tokens", "units": 32, "embedding": 16, "dropout": 0.1},
    "decoder": {"type": "recurrent", "units": 32, "embedding": 16, "dropout": 0.1},
    "tied": "none",
}
TRANSFORMER = {
    part: {"type": "transformer", "units": 32, "layers": 1, "heads": 4, "feed_forward": 64}
    for part in ("encoder", "decoder")
} | {"tied": "all"}
MODELS = pytest.mark.parametrize("model", [MODEL, TRANSFORMER], ids=["recurrent", "transformer"])
SPEC = {name: tf.io.RaggedFeature(tf.int64) for name in ("source", "target")}
SETTINGS = TrainingSettings(
    epochs=2,
    batch_tokens=64,
    learning_rate=0.01,
    warmup_steps=10,
    average=0.9,
    checkpoint_every=10,
    early_stopping=EarlyStopping(patience=0),
)


def make_loop(pair_files, folder, model=MODEL, **settings):
    keras.utils.set_random_seed(1)
    train, held_out = (Pairs(files, SPEC, "source", "target") for files in pair_files)
    return TrainingLoop(
        build_model(model, 12, 12),
        dataclasses.replace(SETTINGS, **settings),
        train,
        held_out,
        str(folder),
    )


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
        _, weights = loop.model(source, np.array([[2, 9, 8, 7, 6, 5]]))
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


def test_a_resumed_training_is_the_training_that_was_never_stopped(pair_files, tmp_path):
    whole = make_loop(pair_files, tmp_path / "whole", epochs=1)
    whole.run()

    stopped = make_loop(pair_files, tmp_path / "stopped", epochs=1)
    train_step = stopped._train_step

    def interrupted(source, target):
        # As a signal does: Python notices it when the step, which is C++, returns.
        result = train_step(source, target)
        if int(stopped.position["step"]) == 25:
            raise KeyboardInterrupt
        return result

    stopped._train_step = interrupted
    with pytest.raises(KeyboardInterrupt):
        stopped.run()

    resumed = make_loop(pair_files, tmp_path / "stopped", epochs=1)
    resumed.run()
    np.testing.assert_allclose(resumed.losses, whole.losses[25:], rtol=1e-5)
    np.testing.assert_allclose(weights_of(resumed), weights_of(whole), atol=1e-5)


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
from test_loop import make_loop
loop = make_loop(([sys.argv[2]], [sys.argv[3]]), sys.argv[4], epochs=50)
step = loop._train_step
def told(source, target):
    print(int(loop.position["step"]), flush=True)
    return step(source, target)
loop._train_step = told
loop.run()
"""


@pytest.mark.slow
def test_a_killed_training_goes_on_from_its_last_checkpoint(pair_files, tmp_path):
    folder = os.path.dirname(__file__)
    (train,), (held_out,) = pair_files
    command = [sys.executable, "-c", KILLED, folder, train, held_out, str(tmp_path / "killed")]

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
def test_xla_gives_the_same_losses_and_gradients(pair_files, tmp_path, model):
    parts = {name: {**model[name], "dropout": 0.0} for name in ("encoder", "decoder")}
    model = {**model, **parts}
    loop = make_loop(pair_files, tmp_path / "xla", model, xla=True)
    for source, target in loop._batches(0).take(3):
        share = tf.constant(0.01)
        loss, tokens, gradients = loop._compiled_gradients(source, target, share)
        expected = loop._gradients(source, target, share)
        np.testing.assert_allclose(loss, expected[0], rtol=1e-5)
        assert tokens == expected[1]
        for gradient, wanted in zip(gradients, expected[2]):
            wanted = tf.convert_to_tensor(wanted)
            np.testing.assert_allclose(tf.convert_to_tensor(gradient), wanted, atol=1e-4)
        loop._train_step(source, target)


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
    assert seen and all(p.tokens_per_second > 0 for p in seen)
    assert [p.step for p in seen] == sorted(p.step for p in seen)
    assert seen[-1].total_steps == loop.total_steps
    # The first steps trace, and tell nothing of the time that is left.
    assert seen[0].seconds_left == 0.0


def test_tensorboard_logs_are_written(pair_files, tmp_path):
    train, held_out = (Pairs(files, SPEC, "source", "target") for files in pair_files)
    TrainingLoop(
        build_model(MODEL, 12, 12),
        dataclasses.replace(SETTINGS, epochs=1),
        train,
        held_out,
        str(tmp_path / "checkpoints"),
        log_folder=str(tmp_path / "logs"),
    ).run()
    (events,) = (tmp_path / "logs").iterdir()
    tags = {
        v.tag for e in tf.compat.v1.train.summary_iterator(str(events)) for v in e.summary.value
    }
    assert "eval_loss" in tags


DISTRIBUTED = """
import sys
sys.path.insert(0, sys.argv[1])
import keras, numpy as np, tensorflow as tf
from pairloom.components.trainer.devices import choose_strategy, reserve_devices
reserve_devices("cpu:2")
tf.constant(1) + 1  # As the nodes before the trainer do, in the same process.
strategy = choose_strategy("cpu:2")
import test_loop
from pairloom.components.trainer.loop import TrainingLoop
import dataclasses
model = {**test_loop.MODEL, "encoder": {**test_loop.MODEL["encoder"], "dropout": 0.0}}
model["decoder"] = {**test_loop.MODEL["decoder"], "dropout": 0.0}
files = ([sys.argv[2]], [sys.argv[3]])
losses = []
for number, chosen in enumerate([strategy, tf.distribute.get_strategy()]):
    keras.utils.set_random_seed(1)
    train, held_out = (test_loop.Pairs(f, test_loop.SPEC, "source", "target") for f in files)
    with chosen.scope():
        built = test_loop.build_model(model, 12, 12)
    settings = dataclasses.replace(test_loop.SETTINGS, epochs=1, clip_norm=0.0)
    loop = TrainingLoop(built, settings, train, held_out, f"{sys.argv[4]}{number}", strategy=chosen)
    loop.run()
    losses.append(loop.losses)
assert strategy.num_replicas_in_sync == 2
np.testing.assert_allclose(losses[0], losses[1], rtol=2e-3)
print("same")
"""


@pytest.mark.slow
def test_two_devices_give_the_losses_of_one(pair_files, tmp_path):
    (train,), (held_out,) = pair_files
    command = [sys.executable, "-c", DISTRIBUTED, os.path.dirname(__file__), train, held_out]
    result = subprocess.run(
        [*command, str(tmp_path / "checkpoints")], capture_output=True, text=True, timeout=300
    )
    assert result.stdout.strip().endswith("same"), result.stderr[-3000:]
