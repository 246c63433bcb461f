# SPDX-License-Identifier: Apache-2.0
"""Pebbles: rows of a table, each of them through a map of its own (scaled, crossed) before it is batched, 2048 to a batch.

Truth: input-bound: many tiny elements; batch first, and map whole batches. The wait is that of the step less that of a step on
one constant batch.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS, BATCH = 6, 15, 18, 2048


def cross_features(row, label):
    scaled = (row - tf.reduce_mean(row)) / (tf.math.reduce_std(row) + 1e-6)
    return tf.concat([scaled, tf.square(scaled[:8]), scaled[:8] * scaled[8:16]], 0), label


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((48,)), layers.Dense(64, "relu"), layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((BATCH * STEPS, 32), np.float32), rng.standard_normal((BATCH * STEPS, 1), np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, y)).map(cross_features).batch(BATCH).prefetch(1)
    batch = next(iter(data))
    before_s = median_step_s(model, batch)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data)
    watch.save(min(before_s, median_step_s(model, batch)))


if __name__ == "__main__":
    main()
