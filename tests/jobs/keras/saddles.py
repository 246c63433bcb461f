# SPDX-License-Identifier: Apache-2.0
"""Saddles: tf.data from a Python generator that asks a store (15 ms a batch) for each batch; no prefetch.

Truth: input-bound, in the generator. The wait is that of the step less that of a step on one constant batch.
"""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 5, 14, 16


def ask_store():
    for n in range(STEPS * 3):
        time.sleep(0.015)  # the store answers
        yield np.full((64, 128), n / 50, np.float32), np.full((64, 1), n / 60, np.float32)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((128,)), layers.Dense(256, "relu"), layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    spec = (tf.TensorSpec((64, 128), tf.float32), tf.TensorSpec((64, 1), tf.float32))
    data = tf.data.Dataset.from_generator(ask_store, output_signature=spec)
    batch = next(iter(data))
    before_s = median_step_s(model, batch)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data, steps_per_epoch=STEPS)
    watch.save(min(before_s, median_step_s(model, batch)))


if __name__ == "__main__":
    main()
