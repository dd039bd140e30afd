"""Adam in one pass over the weights."""

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="pairloom")
class FusedAdam(keras.optimizers.Adam):
    """Keras's Adam on TensorFlow's own kernel: one pass over each table instead of six.

    On a CPU, Adam over two embedding tables of 8,000 rows is a tenth of a step otherwise.
    """

    def update_step(self, gradient, variable, learning_rate):
        index = self._get_variable_index(variable)
        momentum, velocity = self._momentums[index], self._velocities[index]
        step = tf.cast(self.iterations + 1, tf.float32)
        tf.raw_ops.ResourceApplyAdam(
            var=_handle(variable),
            m=_handle(momentum),
            v=_handle(velocity),
            beta1_power=tf.pow(self.beta_1, step),
            beta2_power=tf.pow(self.beta_2, step),
            lr=tf.cast(learning_rate, tf.float32),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=tf.convert_to_tensor(gradient),
        )


def _handle(variable):
    value = variable.value if isinstance(variable, keras.Variable) else variable
    # Inside `strategy.extended.update` a mirrored variable stands for its copy on this device.
    return value.handle
