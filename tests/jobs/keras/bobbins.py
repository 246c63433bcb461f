# SPDX-License-Identifier: Apache-2.0
"""Bobbins: model.fit with CSVLogger and a ModelCheckpoint that saves after each batch; arrays in memory.

Truth: host-bound, by the checkpoint, which the profile may not show: then Trace( would.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 4, 11, 12


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((128,)), layers.Dense(256, "relu"), layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((64 * STEPS, 128), np.float32), rng.standard_normal((64 * STEPS, 1), np.float32)
    saver = keras.callbacks.ModelCheckpoint("bobbins.weights.h5", save_weights_only=True, save_freq=1)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=64, callbacks=[keras.callbacks.CSVLogger("bobbins.csv"), saver])
    watch.save()


if __name__ == "__main__":
    main()
