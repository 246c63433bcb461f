# SPDX-License-Identifier: Apache-2.0
"""Dampers: after each step the weights are fetched, sorted in plain Python, and their quantiles kept. Step marks.

Truth: host-bound, by Python that the profile does not hold (TensorFlow's tracer records none): with Trace( it would.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 3, 8, 128


def quantiles(weights):
    values = sorted(v for w in weights for v in w.numpy().ravel().tolist())
    return [values[len(values) * n // 10] for n in range(10)]


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    weights = [tf.Variable(tf.random.stateless_normal((WIDTH, WIDTH), (0, n)) / 16) for n in range(2)]
    x = tf.random.stateless_normal((32, WIDTH), (1, 1))
    kept = []

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
            float(train_step(x))
            kept.append(quantiles(weights))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
