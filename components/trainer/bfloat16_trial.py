"""Tries products in bfloat16, in a process that may die of them: `python -m` this module.

Some virtual machines announce AMX and end a process at its first such instruction.
"""

import os
import time

ROWS = 768


def main() -> None:
    """Prints how many times as fast as in float32 a product in bfloat16 is, or dies."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # The trial is the CPU's; a GPU is asked for what it can.
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    multiply = tf.function(tf.matmul, autograph=False)
    square = tf.random.stateless_uniform([ROWS, ROWS], [1, 2])
    factors = [square, tf.cast(square, tf.bfloat16)]
    wide, narrow = (tf.cast(multiply(each, each), tf.float32) for each in factors)
    if float(tf.reduce_max(tf.abs(wide - narrow) / wide)) > 0.02:
        raise SystemExit("Products in bfloat16 are wrong here.")
    seconds: list[list[float]] = [[], []]
    for _ in range(20):
        for each, taken in zip(factors, seconds):
            # The processor's own time: others may be at work on this machine.
            began = time.process_time()
            multiply(each, each).numpy()
            taken.append(time.process_time() - began)
    print(min(seconds[0]) / max(min(seconds[1]), 1e-9))


if __name__ == "__main__":
    main()
