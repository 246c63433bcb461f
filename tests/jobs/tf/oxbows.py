# SPDX-License-Identifier: Apache-2.0
"""Oxbows: an encoder block (attention, a perceptron) in one tf.function, batches from a prefetching pipeline. Step marks.

Truth: compute-bound; healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 3, 8, 128


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    make = lambda n, shape: tf.Variable(tf.random.stateless_normal(shape, (0, n)) / 12)  # noqa: E731
    query, key, value, out = (make(n, (WIDTH, WIDTH)) for n in range(4))
    up, down = make(4, (WIDTH, WIDTH * 4)), make(5, (WIDTH * 4, WIDTH))
    weights = [query, key, value, out, up, down]
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((16 * 24, 64, WIDTH), np.float32)
    data = tf.data.Dataset.from_tensor_slices(rows).batch(16).prefetch(tf.data.AUTOTUNE)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            scores = tf.nn.softmax(tf.matmul(x @ query, x @ key, transpose_b=True) / WIDTH**0.5)
            h = x + (scores @ (x @ value)) @ out
            h = h + tf.nn.gelu(h @ up) @ down
            loss = tf.reduce_mean(tf.square(h - x))
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(1e-3 * g)
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
