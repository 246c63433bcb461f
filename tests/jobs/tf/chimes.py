# SPDX-License-Identifier: Apache-2.0
"""Chimes: the compiled step calls tf.numpy_function for a loss term that was only there in NumPy. Step marks.

Truth: host-bound: most of each step is pair_ranks, Python called from the graph.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 14


def pair_ranks(scores):
    order = np.argsort(scores, axis=1)
    total = 0.0
    for row in order[:, :400]:
        for k, place in enumerate(row.tolist()):
            total += abs(k - place)
    return np.float32(total / scores.size)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    w1 = tf.Variable(tf.random.stateless_normal((256, 512), (0, 1)) / 16)
    w2 = tf.Variable(tf.random.stateless_normal((512, 400), (0, 2)) / 22)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            scores = tf.nn.relu(x @ w1) @ w2
            term = tf.numpy_function(pair_ranks, [scores], tf.float32)
            loss = tf.reduce_mean(tf.square(scores)) * (1.0 + tf.stop_gradient(term))
        g1, g2 = tape.gradient(loss, [w1, w2])
        w1.assign_sub(1e-4 * g1)
        w2.assign_sub(1e-4 * g2)
        return loss

    x = tf.random.stateless_normal((64, 256), (3, 3))
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            float(train_step(x))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
