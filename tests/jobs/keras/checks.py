# SPDX-License-Identifier: Apache-2.0
"""Ferries: a callback evaluates the model after every fifth batch; data in memory.

Truth: compute-bound, but every fifth step takes several times as long, in the callback's model.evaluate.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS, EVERY = 6, 30, 32, 5


class Checks(keras.callbacks.Callback):
    def __init__(self, watch, x, y):
        super().__init__()
        self.watch, self.held_out = watch, tf.data.Dataset.from_tensors((x, y)).repeat(6).cache()

    def on_train_batch_end(self, batch, logs=None):
        if batch % EVERY == EVERY - 1:
            with self.watch.timed("evaluate"):
                self.model.evaluate(self.held_out, verbose=0)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((256,)), layers.Dense(1024, "relu"), layers.Dense(1024, "relu"), layers.Dense(1)]
    )
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((128 * STEPS, 256), np.float32), rng.standard_normal((128 * STEPS, 1), np.float32)
    model.evaluate(x[:256], y[:256], verbose=0)  # built once, before
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=128, callbacks=[Checks(watch, x[:1024], y[:1024])])
    watch.save()


if __name__ == "__main__":
    main()
