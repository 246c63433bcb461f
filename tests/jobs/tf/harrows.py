# SPDX-License-Identifier: Apache-2.0
"""Harrows: the step takes a Python list of tensors, of another length in each step: the function is traced again for each. Step
marks.

Truth: host-bound: train_step is traced again in each step, by the changed list.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 2, 6


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    w = tf.Variable(tf.random.stateless_normal((64, 64), (0, 1)) / 8)

    @tf.function
    def train_step(parts):
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_mean(tf.square(tf.tanh(part @ w) - part)) for part in parts])
        w.assign_sub(1e-2 * tape.gradient(loss, w))
        return loss

    pieces = [tf.random.stateless_normal((32, 64), (0, n)) for n in range(20)]
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            float(train_step(pieces[: 6 + step]))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
