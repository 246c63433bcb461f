# SPDX-License-Identifier: Apache-2.0
"""Brigs: ModelCheckpoint with save_freq=5 (batches), of a model of some MB; arrays in memory.

Truth: compute-bound or host-bound by the saves; every fifth step is long, by the checkpoint.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 6, 25, 28


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((256,)), layers.Dense(1024, "relu"), layers.Dense(512, "relu"), layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((64 * STEPS, 256), np.float32), rng.standard_normal((64 * STEPS, 1), np.float32)
    watch = StopWatch(FIRST, LAST)
    saver = keras.callbacks.ModelCheckpoint("brigs.weights.h5", save_weights_only=True, save_freq=5)
    watch.fit(model, x, y, batch_size=64, callbacks=[saver])
    watch.save()


if __name__ == "__main__":
    main()
