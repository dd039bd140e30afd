"""The training loop."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import keras
import tensorflow as tf

from pairloom.components.trainer.averages import Averages
from pairloom.components.trainer.batches import Pairs, in_batches, read_inputs
from pairloom.components.trainer.estimate import Estimate
from pairloom.components.trainer.fused_adam import FusedAdam
from pairloom.components.trainer.meters import Clock, Meter
from pairloom.components.trainer.position import Position
from pairloom.components.trainer.precision import precision_of
from pairloom.components.trainer.progress import TrainingProgress, remark, report
from pairloom.components.trainer.schedule import WarmupDecay
from pairloom.components.trainer.settings import TrainingSettings
from pairloom.kinds.output import PLAIN, FieldOutput, Objective
from pairloom.models import EncoderDecoder
from pairloom.models.product import products_in

_PLAN_EVERY_STEPS = 100


class TrainingDivergedError(Exception):
    """The loss is no longer a number."""


@dataclass(frozen=True)
class TrainingResult:
    """How a training ended."""

    steps: int
    epochs: float
    seconds: float
    best: float


class TrainingLoop:
    """Trains a model on pairs, and can be killed at any time.

    Args:
        model: Made and built inside `strategy.scope()`.
        output: The field that is written; it knows its loss.
        settings: The recipe's `training` section.
        train_pairs: What to learn from.
        eval_pairs: Held out.
        folder: For checkpoints; a training that finds its own there goes on from them.
        strategy: As `choose_strategy` gives it.
        watch: Computes what early stopping watches on held-out pairs, lower being better, and its
            value as it is shown; None: it watches the loss.
        log_folder: For TensorBoard; None: no logs.
        part: Which of several trainings this is, as people are told.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        output: FieldOutput,
        settings: TrainingSettings,
        train_pairs: Pairs,
        eval_pairs: Pairs,
        folder: str,
        strategy: tf.distribute.Strategy | None = None,
        watch: Callable[[], tuple[float, float]] | None = None,
        log_folder: str | None = None,
        part: str = "",
    ):
        self.model = model
        self.output = output
        self.settings = settings
        self.strategy = strategy or tf.distribute.get_strategy()
        self._train_pairs = train_pairs
        self._eval_batches = in_batches(eval_pairs, 4 * settings.batch_tokens)
        self._watch = watch
        self._part = part
        self._writer = tf.summary.create_file_writer(log_folder) if log_folder else None
        self.steps_per_epoch = _count(self._batches(0))
        if self.steps_per_epoch == 0:
            raise ValueError("There are no training batches: the train split has no pairs.")
        self._all_steps = self.steps_per_epoch * settings.epochs
        if settings.steps:
            self._all_steps = min(self._all_steps, settings.steps)
        self.total_steps = self._all_steps
        self._precision = precision_of(settings.precision)
        self._estimate = Estimate(self._all_steps, 60 * settings.minutes)
        weights = [weight.value for weight in model.trainable_variables]
        with self.strategy.scope():
            self._schedule = WarmupDecay(
                settings.learning_rate, settings.warmup_steps, settings.decay, self.total_steps
            )
            self.optimizer = self._make_optimizer()
            self.optimizer.build(model.trainable_variables)
            self.averages = Averages(weights, settings.average)
        self.position = Position()
        sampled = keras.random.SeedGenerator(settings.seed) if settings.scheduled_sampling else None
        self._objective = Objective(
            settings.label_smoothing,
            settings.coverage,
            sampled,
            fixed_shapes=settings.xla,
            training=True,
            supervision=settings.supervised.weight if settings.supervised else 0.0,
        )
        # One trace for all lengths; what a strategy splits has no signature to give.
        specs = list(self._eval_batches.element_spec)
        whole = self.strategy.num_replicas_in_sync == 1
        self._train_step = tf.function(
            self._train_all_replicas,
            input_signature=specs if whole else None,
            reduce_retracing=not whole,
            autograph=False,
        )
        self._eval_step = tf.function(self._loss_of, input_signature=specs, autograph=False)
        self.losses: list[float] = []
        self._meter = Meter()
        self._saved_at = 0.0
        self._evaluation: dict[str, float] = {}
        self._checkpoints = tf.train.CheckpointManager(
            # Plain lists of variables: TensorFlow does not see the seeds of Keras's dropout.
            tf.train.Checkpoint(
                model=[variable.value for variable in model.variables],
                optimizer=[variable.value for variable in self.optimizer.variables],
                averages=self.averages,
                position=self.position,
                draws=[sampled.state.value] if sampled else [],
            ),
            tf.io.gfile.join(folder, "last"),
            max_to_keep=2,
        )
        self._best = tf.train.CheckpointManager(
            tf.train.Checkpoint(model=weights), tf.io.gfile.join(folder, "best"), max_to_keep=1
        )

    def run(self) -> TrainingResult:
        """Trains to the end; the model then holds the best weights, averaged.

        A stop by Ctrl-C first writes a checkpoint.
        """
        if self._checkpoints.latest_checkpoint:
            self._checkpoints.restore_or_initialize()
            self._saved_at = self.position["seconds"]
            self._plan()
        try:
            # A stop in the midst of an evaluation leaves it to be done.
            self._evaluate_if_due()
            while not self.position["ended"] and self.position["epoch"] < self.settings.epochs:
                self._run_epoch()
            if self.position["evaluated"] != self.position["step"]:
                self._evaluate()
        except KeyboardInterrupt:
            self._checkpoints.save(int(self.position["step"]))
            raise
        self._checkpoints.save(int(self.position["step"]))
        self._best.checkpoint.restore(self._best.latest_checkpoint).expect_partial()
        return TrainingResult(
            steps=int(self.position["step"]),
            epochs=self.position["step"] / self.steps_per_epoch,
            seconds=self.position["seconds"],
            best=self.position["best"],
        )

    def _run_epoch(self) -> None:
        """Trains on what is left of an epoch; stopped anywhere and called again, it goes on."""
        done = int(self.position["batch"])
        batches = self._batches(int(self.position["epoch"])).skip(done)
        clock = Clock(self.position)
        for inputs, target in self.strategy.experimental_distribute_dataset(batches):
            loss, units = (float(x) for x in self._train_step(inputs, target))
            if not math.isfinite(loss):
                raise TrainingDivergedError(
                    f"The loss became {loss} at step {int(self.position['step'])}. "
                    "Try a smaller `training.learning_rate` or `training.clip_norm`, "
                    "or more `training.warmup_steps`."
                )
            self.losses.append(loss / max(units, 1.0))
            taken = clock.tick()
            self._meter.add(loss, units, taken)
            self._tell_time(taken)
            self._after_step()
            if self._meter.due():
                self._report()
            if self.position["ended"]:
                return
        if not self.settings.evaluate_every:
            self._evaluate()
            clock.tick()
        self.position.end_epoch()

    def _tell_time(self, taken: float) -> None:
        position = self.position
        words = self._estimate.add(taken, int(position["step"]), position["seconds"])
        if words:
            remark(f"{self._part}: {words}" if self._part else words)

    def _after_step(self) -> None:
        settings, position = self.settings, self.position
        step = int(position["step"])
        self.averages.update(step)
        if step % _PLAN_EVERY_STEPS == 0:
            self._plan()
        self._evaluate_if_due()
        if self._checkpoint_is_due(step):
            self._checkpoints.save(step)
            self._saved_at = position["seconds"]
        over = bool(settings.minutes) and position["seconds"] >= 60 * settings.minutes
        if over or step == settings.steps:
            position["ended"] = 1

    def _checkpoint_is_due(self, step: int) -> bool:
        every, seconds = self.settings.checkpoint_every, self.settings.checkpoint_seconds
        passed = self.position["seconds"] - self._saved_at
        return bool(every and step % every == 0) or bool(seconds and passed >= seconds)

    def _evaluate_if_due(self) -> None:
        every, step = self.settings.evaluate_every, int(self.position["step"])
        if every and step and step % every == 0 and self.position["evaluated"] != step:
            self._evaluate()

    def _plan(self) -> None:
        """Ends the rate's decay where the minutes will end, so that a slow machine anneals too."""
        step, seconds = self.position["step"], self.position["seconds"]
        limit = 60 * self.settings.minutes
        if limit and seconds:
            self.total_steps = min(self._all_steps, int(step * max(limit / seconds, 1.0)))
            self._schedule.plan(self.total_steps)

    def _train_all_replicas(self, inputs, target):
        sums = self.strategy.run(self._replica_step, (inputs, target))
        self.position.advance()
        return [self.strategy.reduce(tf.distribute.ReduceOp.SUM, x, axis=None) for x in sums]

    def _replica_step(self, inputs, target):
        total = self.output.count(target)
        # Each replica divides by the units of all, so that their gradients add up.
        if self.strategy.num_replicas_in_sync > 1:
            context = tf.distribute.get_replica_context()
            total = context.all_reduce(tf.distribute.ReduceOp.SUM, total)
        compute = self._compiled_gradients if self.settings.xla else self._gradients
        share = 1.0 / tf.maximum(total, 1.0)
        with products_in(self._precision.products):
            loss, units, gradients = compute(inputs, target, share, self._noise_seed())
        self.optimizer.apply(
            [tf.convert_to_tensor(gradient) for gradient in gradients],
            self.model.trainable_variables,
        )
        return loss, units

    def _noise_seed(self):
        """Of what spoils the inputs in this step, on this replica.

        It comes from the position, which a checkpoint keeps: so a training that goes on sees the
        noise of one that was never stopped.
        """
        context = tf.distribute.get_replica_context()
        step = tf.cast(self.position.values["step"], tf.int64)
        seed = tf.stack([tf.constant(self.settings.seed, tf.int64), step])
        return tf.random.experimental.stateless_fold_in(seed, context.replica_id_in_sync_group)

    def _gradients(self, inputs, target, share, noise_seed):
        """The summed loss, its units, and the gradients of `share` times that loss."""
        weights = [weight.value for weight in self.model.trainable_variables]
        done = self._schedule.done(self.optimizer.iterations)
        objective = dataclasses.replace(
            self._objective, sampled_share=self.settings.scheduled_sampling * done
        )
        with tf.GradientTape() as tape:
            loss, units = self._loss_of(inputs, target, objective, noise_seed)
            scaled = self.optimizer.scale_loss(share * loss)
        # A weight may have no say, as the first state of a decoder that looks at positions alone.
        return loss, units, tape.gradient(scaled, weights, unconnected_gradients="zero")

    @tf.function(jit_compile=True, autograph=False)
    def _compiled_gradients(self, inputs, target, share, noise_seed):
        return self._gradients(inputs, target, share, noise_seed)

    def _loss_of(self, inputs, target, objective: Objective = PLAIN, noise_seed=None):
        read = read_inputs(self._train_pairs.inputs, inputs, noise_seed)
        encoded = self.model.encode(read, target, training=objective.training)
        if objective.supervision:
            objective = self._with_links(inputs, objective)
        return self.output.loss(self.model, encoded, target, objective)

    def _with_links(self, inputs, objective: Objective) -> Objective:
        """The objective with what the batch says of where to look in the only input."""
        assert self.settings.supervised is not None
        [(name, graph)] = self._train_pairs.inputs.items()
        return dataclasses.replace(
            objective,
            links=inputs[self.settings.supervised.field],
            source_words=graph.word_numbers(inputs[name]),
        )

    def _evaluate(self) -> None:
        """Scores the averaged weights on held-out pairs and keeps them if they are the best."""
        early = self.settings.early_stopping
        with self.averages.in_place():
            sums = [
                [float(x) for x in self._eval_step(inputs, target)]
                for inputs, target in self._eval_batches
            ]
            loss = sum(s[0] for s in sums) / max(sum(s[1] for s in sums), 1.0)
            self._evaluation = {"eval_loss": loss}
            watched = loss
            if self._watch is not None:
                watched, shown = self._watch()
                self._evaluation[f"eval_{early.metric}"] = shown
            if watched < self.position["best"]:
                self._best.save(int(self.position["step"]))
                self.position["best"] = watched
                self.position["patience"] = 0
            else:
                self.position["patience"] += 1
        self.position["evaluated"] = self.position["step"]
        self._log(self._evaluation)
        if early.patience and self.position["patience"] >= early.patience:
            self.position["ended"] = 1

    def _make_optimizer(self) -> keras.optimizers.Optimizer:
        settings = self.settings
        optimizer = FusedAdam(
            self._schedule,
            beta_2=0.998,
            epsilon=1e-8,
            global_clipnorm=settings.clip_norm or None,
            gradient_accumulation_steps=settings.accumulate if settings.accumulate > 1 else None,
        )
        if self._precision.policy == "mixed_float16":
            return keras.optimizers.LossScaleOptimizer(optimizer)
        return optimizer

    def _batches(self, epoch: int) -> tf.data.Dataset:
        # The same seed and epoch give the same batches, so a resumed epoch can skip what is done.
        return in_batches(
            self._train_pairs,
            self.settings.batch_tokens,
            shuffle_seed=1000 * self.settings.seed + epoch,
            fixed_shapes=self.settings.xla,
            # A strategy cuts batches row by row.
            repeated=self.strategy.num_replicas_in_sync == 1,
        )

    def _report(self) -> None:
        # The first steps after a start are slow, tracing, and tell nothing of those to come.
        known = self._meter.reports > 0
        loss, rate, seconds_a_step = self._meter.take()
        step = int(self.position["step"])
        left = (self.total_steps - step) * seconds_a_step if known else 0.0
        if self.settings.minutes:
            limit = 60 * self.settings.minutes - self.position["seconds"]
            left = min(left, limit) if known else limit
        self._log({"loss": loss, f"{self.output.unit}_per_second": rate})
        report(
            TrainingProgress(
                step=step,
                total_steps=self.total_steps,
                epoch=int(self.position["epoch"]) + 1,
                loss=loss,
                units_per_second=rate,
                unit=self.output.unit,
                seconds_left=max(left, 0.0),
                evaluation=dict(self._evaluation),
                part=self._part,
            )
        )

    def _log(self, values: dict[str, float]) -> None:
        if self._writer is None:
            return
        with self._writer.as_default(int(self.position["step"])):
            for name, value in values.items():
                tf.summary.scalar(name, value)


def _count(batches: tf.data.Dataset) -> int:
    return int(batches.reduce(tf.constant(0, tf.int64), lambda count, _: count + 1))
