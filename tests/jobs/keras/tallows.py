# SPDX-License-Identifier: Apache-2.0
"""Tallows: a LambdaCallback takes histograms of all weights in NumPy after each batch; arrays in memory.

Truth: host-bound, by the callback, which the profile cannot show: with Trace( it would.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 5, 14, 16


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((256,)), layers.Dense(512, "relu"), layers.Dense(128, "relu"), layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((64 * STEPS, 256), np.float32), rng.standard_normal((64 * STEPS, 1), np.float32)
    shown = []

    def histograms(batch, logs=None):
        shown.append([np.histogram(w, 64)[0] for w in model.get_weights()])

    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=64, callbacks=[keras.callbacks.LambdaCallback(on_train_batch_end=histograms)])
    watch.save()


if __name__ == "__main__":
    main()
