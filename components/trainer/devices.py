"""Where training runs."""

import tensorflow as tf


def reserve_devices(devices: str) -> None:
    """Makes the virtual CPUs that `"cpu:2"` asks for; to be called before TensorFlow starts."""
    if devices.startswith("cpu:"):
        _make_virtual_cpus(int(devices.removeprefix("cpu:")))


def choose_strategy(devices: str) -> tf.distribute.Strategy:
    """The strategy for a recipe's `devices`.

    Args:
        devices: `"auto"`: all visible GPUs, or the CPU where there is none; `"one"`: one device;
            `"cpu:2"`: two virtual CPUs, to try a distributed training without GPUs.

    Returns:
        A strategy that splits every batch over the devices.
    """
    if devices.startswith("cpu:"):
        reserve_devices(devices)
        count = int(devices.removeprefix("cpu:"))
        return tf.distribute.MirroredStrategy([f"CPU:{number}" for number in range(count)])
    gpus = tf.config.list_logical_devices("GPU")
    if devices == "auto" and len(gpus) > 1:
        return tf.distribute.MirroredStrategy()
    if devices not in ("auto", "one"):
        raise ValueError(
            f"`devices` must be 'auto', 'one' or 'cpu:N'. Received: devices={devices!r}."
        )
    return tf.distribute.get_strategy()


def _make_virtual_cpus(count: int) -> None:
    (cpu,) = tf.config.list_physical_devices("CPU")
    try:
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * count
        )
    except RuntimeError as error:
        if len(tf.config.list_logical_devices("CPU")) < count:
            raise ValueError(
                f"`devices: cpu:{count}` must be set before TensorFlow has started in this "
                "process. Run it in a process of its own."
            ) from error
