# SPDX-License-Identifier: Apache-2.0
"""Barrows: an eager loop with GradientTape, of few and large operations. Step marks.

Truth: compute-bound: a graph would gain nothing.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 8


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    weights = [tf.Variable(tf.random.stateless_normal((768, 768), (0, n)) / 28) for n in range(3)]
    x = tf.random.stateless_normal((512, 768), (1, 1))
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            with tf.GradientTape() as tape:
                h = x
                for w in weights:
                    h = tf.nn.relu(h @ w)
                loss = tf.reduce_mean(tf.square(h - x))
            for w, g in zip(weights, tape.gradient(loss, weights)):
                w.assign_sub(1e-3 * g)
            float(loss)
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
