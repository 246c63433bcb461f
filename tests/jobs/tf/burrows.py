# SPDX-License-Identifier: Apache-2.0
"""Burrows: each step takes one batch by `for x in dataset.skip(step).take(1)`: a pipeline of its own for every step, which reads
over all that came before. Step marks.

Truth: input-bound: one iterator, made once, is the cure.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 40, 10


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((64 * 60, 64), np.float32)
    data = tf.data.Dataset.from_tensor_slices(rows).map(lambda row: tf.tanh(row) * 2).batch(64)
    w = tf.Variable(tf.random.stateless_normal((64, 64), (0, 1)) / 8)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ w) - x))
        w.assign_sub(1e-2 * tape.gradient(loss, w))
        return loss

    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            for x in data.skip(step).take(1):
                watch.fetched()
                float(train_step(x))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
