# SPDX-License-Identifier: Apache-2.0
"""Sieves: every record is decoded by a map, and nine in ten are then thrown away by a filter. Step marks.

Truth: input-bound, in the map (decode_grain) in front of the filter.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 5


def decode_grain(data, size):
    grain = tf.cast(tf.io.decode_png(data, channels=1), tf.float32) / 255.0
    return tf.reshape(grain, [-1])[::64], size


def is_coarse(grain, size):
    return size == 0


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 255, (40, 128, 128, 1), np.uint8)
    stored = [tf.io.encode_png(p).numpy() for p in pictures]
    weights = tf.Variable(tf.random.stateless_normal((256, 128), (0, 0)) / 16)

    @tf.function
    def train_step(grains):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(grains @ weights))
        weights.assign_sub(1e-3 * tape.gradient(loss, weights))
        return loss

    data = tf.data.Dataset.from_tensor_slices((stored, np.arange(40) % 10)).repeat()
    batches = iter(data.map(decode_grain).filter(is_coarse).batch(6, drop_remainder=True).prefetch(2))
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            grains, _ = next(batches)
            watch.fetched()
            float(train_step(grains))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
