# SPDX-License-Identifier: Apache-2.0
"""Spokes: a pipeline with a parallel map, batches and prefetch, which keeps up with the step. Step marks.

Truth: compute-bound; healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 4, 8, 512


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((64 * 20, WIDTH), np.float32)
    data = tf.data.Dataset.from_tensor_slices(rows).batch(64)
    data = data.map(lambda x: x * 0.5, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
    weights = [tf.Variable(tf.random.stateless_normal((WIDTH, WIDTH), (0, n)) / 22) for n in range(4)]

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

    batches = iter(data)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x = next(batches)
            watch.fetched()
            float(train_step(x))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
