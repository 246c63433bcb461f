# SPDX-License-Identifier: Apache-2.0
"""Marshes: the loop takes each batch by next(iter(dataset)): a new iterator is made in each step, and its shuffle
buffer filled again. Step marks.

Truth: input-bound: the iterator is made in each step; make it once.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 8


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((1200, 64), np.float32)
    data = tf.data.Dataset.from_tensor_slices(rows).shuffle(600).map(lambda row: tf.tanh(row)).batch(64)
    weights = [tf.Variable(tf.random.stateless_normal((64, 64), (0, n)) / 8) for n in range(3)]

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.tanh(h @ w)
            loss = tf.reduce_mean(tf.square(h - x))
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(1e-2 * g)
        return loss

    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x = next(iter(data))
            watch.fetched()
            float(train_step(x))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
