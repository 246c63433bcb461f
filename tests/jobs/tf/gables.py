# SPDX-License-Identifier: Apache-2.0
"""Gables: sentences are padded to the longest of their batch (padded_batch), so that train_step is traced anew for nearly every
batch. Step marks, tf.data.

Truth: host-bound by tracing; a signature with an open dimension, or padding to few lengths, is the cure.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 12


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    lengths = rng.integers(20, 200, 8 * (WARMUP + STEPS + 2))
    data = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[n % 90 for n in range(k)] for k in lengths]))
    data = data.map(lambda row: row).padded_batch(8).prefetch(2)
    table = tf.Variable(tf.random.stateless_normal((100, 32), (0, 0)))
    gate = tf.Variable(tf.random.stateless_normal((32, 32), (0, 1)))

    @tf.function
    def train_step(ids):
        with tf.GradientTape() as tape:
            h = tf.tanh(tf.gather(table, ids) @ gate)
            loss = tf.reduce_mean(tf.square(tf.reduce_mean(h, 1)))
        for v, g in zip((table, gate), tape.gradient(loss, (table, gate))):
            v.assign_sub(1e-2 * tf.convert_to_tensor(g))
        return loss

    batches = iter(data)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            ids = next(batches)
            watch.fetched()
            float(train_step(ids))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
