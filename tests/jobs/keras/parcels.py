# SPDX-License-Identifier: Apache-2.0
"""Parcels: tf.data maps a Python function, by tf.numpy_function, that asks a service for each parcel (a sleep).

Truth: input-bound, in weigh_parcel: Python, one parcel at a time. The wait is that of the step less that of a step on
one constant batch.
"""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 8, 19, 22


def weigh_parcel(n):
    time.sleep(0.002)
    return np.full(64, n % 31, np.float32), np.float32(n % 31)


def typed_parcel(n):
    x, y = tf.numpy_function(weigh_parcel, [n], [tf.float32, tf.float32])
    return tf.ensure_shape(x, [64]), tf.ensure_shape(y, [])


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    data = tf.data.Dataset.range(4096).map(typed_parcel).batch(16).prefetch(1)
    model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(128, "relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False)
    batch = next(iter(data))
    before_s = median_step_s(model, batch)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data, steps_per_epoch=STEPS)
    watch.save(min(before_s, median_step_s(model, batch)))


if __name__ == "__main__":
    main()
