# SPDX-License-Identifier: Apache-2.0
"""Prices: model.fit on data in memory, with a callback that makes histograms of all weights after every batch.

Truth: host-bound, in WeightHistograms.on_train_batch_end, two fifths of the step. TensorFlow's tracer records no
Python: it must be said that something is there, and how to see it (a Trace around the suspect).
"""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

import truth
from stopwatch import StopWatch

FIRST, LAST, STEPS = 8, 31, 34


class WeightHistograms(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.history, self.each = [], []

    def on_train_batch_end(self, batch, logs=None):
        before = time.perf_counter()
        self.history.append([np.histogram(w, bins=64) for w in self.model.get_weights()])
        self.each.append(time.perf_counter() - before)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((256,)), layers.Dense(768, "relu"), layers.Dense(384), layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((128 * STEPS, 256), np.float32), rng.standard_normal((128 * STEPS, 1), np.float32)
    watch, histograms = StopWatch(), WeightHistograms()
    board = keras.callbacks.TensorBoard("log", write_graph=False, profile_batch=(FIRST, LAST))
    # The histograms' time is the step's: what follows its end lasts to the start of the next.
    model.fit(x, y, batch_size=128, epochs=1, verbose=0, callbacks=[histograms, watch, board])
    recorded = histograms.each[FIRST - 1 : LAST]
    truth.save(watch.rows, FIRST - 1, LAST - FIRST + 1, ["tensorflow_cpu", "keras"], histograms=recorded)


if __name__ == "__main__":
    main()
