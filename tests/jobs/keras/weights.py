# SPDX-License-Identifier: Apache-2.0
"""Prices: model.fit on data in memory, with a callback that makes histograms of all weights after every batch.

Truth: host-bound, in WeightHistograms.on_train_batch_end, two fifths of the step. TensorFlow's tracer records no
Python: it must be said that something is there, and how to see it (a Trace around the suspect).
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 8, 31, 34


class WeightHistograms(keras.callbacks.Callback):
    def __init__(self, watch):
        super().__init__()
        self.history, self.watch = [], watch

    def on_train_batch_end(self, batch, logs=None):
        with self.watch.timed("histograms"):
            self.history.append([np.histogram(w, bins=64) for w in self.model.get_weights()])


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((256,)), layers.Dense(768, "relu"), layers.Dense(384), layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((128 * STEPS, 256), np.float32), rng.standard_normal((128 * STEPS, 1), np.float32)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=128, callbacks=[WeightHistograms(watch)])
    watch.save()


if __name__ == "__main__":
    main()
