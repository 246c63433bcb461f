# SPDX-License-Identifier: Apache-2.0
"""Tides: model.fit with ModelCheckpoint(save_freq=3), data in memory.

Truth: host-bound, by saving: more than half of the time. Python is not recorded; that something is there between the
steps, and how to see it, is what can be said, and that every third step is long.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 10, 33, 36


class TimedCheckpoint(keras.callbacks.ModelCheckpoint):
    """ModelCheckpoint with a stop-watch around what it saves."""

    def __init__(self, watch, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.watch = watch

    def on_train_batch_end(self, batch, logs=None):
        with self.watch.timed("checkpoint"):
            super().on_train_batch_end(batch, logs)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((256,)), layers.Dense(512, "relu"), layers.Dense(256), layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((128 * STEPS, 256), np.float32), rng.standard_normal((128 * STEPS, 1), np.float32)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=128, callbacks=[TimedCheckpoint(watch, "tides.keras", save_freq=3)])
    watch.save()


if __name__ == "__main__":
    main()
