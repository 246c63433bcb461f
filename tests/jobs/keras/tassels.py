# SPDX-License-Identifier: Apache-2.0
"""Tassels: a callback keeps a mean of the weights in NumPy: get_weights behind every batch, and a sum over them.

Truth: host-bound, by the callback, which the profile does not hold: with Trace( it would.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 6, 19, 22


class WeightMean(keras.callbacks.Callback):
    def __init__(self, decay=0.999):
        super().__init__()
        self.decay, self.mean = decay, None

    def on_train_batch_end(self, batch, logs=None):
        weights = self.model.get_weights()
        if self.mean is None:
            self.mean = [w.astype(np.float64) for w in weights]
        self.mean = [self.decay * m + (1 - self.decay) * w.astype(np.float64) for m, w in zip(self.mean, weights)]


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((512,)), layers.Dense(1024, "relu"), layers.Dense(512, "relu"), layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((8 * STEPS, 512), np.float32), rng.standard_normal((8 * STEPS, 1), np.float32)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=8, callbacks=[WeightMean()])
    watch.save()


if __name__ == "__main__":
    main()
