# SPDX-License-Identifier: Apache-2.0
"""Ticks: Dataset.from_generator reads lines of CSV and makes numbers of them; prefetched by one batch. Step marks.

Truth: input-bound, in the generator (Python, one element at a time): parse whole files, tf.data's own operations, or
save the elements once.
"""

import csv
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 3, 12, 96


def read_ticks():
    while True:
        with open("ticks.csv", newline="") as file:
            for row in csv.reader(file):
                yield np.array([float(cell) for cell in row], np.float32)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    np.savetxt("ticks.csv", np.random.default_rng(0).random((600, WIDTH)), "%.6f", ",")
    data = tf.data.Dataset.from_generator(read_ticks, output_signature=tf.TensorSpec((WIDTH,), tf.float32))
    batches = iter(data.batch(64).prefetch(1))
    w = tf.Variable(tf.random.stateless_normal((WIDTH, 64), (0, 1)) / 16)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w @ tf.transpose(w) - x))
        w.assign_sub(0.001 * tape.gradient(loss, w))
        return loss

    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x = next(batches)
            watch.fetched()
            train_step(x).numpy()
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
