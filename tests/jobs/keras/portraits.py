# SPDX-License-Identifier: Apache-2.0
"""Portraits: a callback lets the model predict some samples after each batch (model.predict), to show how they change; data in
memory.

Truth: host-bound, by the callback: each predict makes a data set and an iterator of its own. Not the job's input.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 4, 9, 12


class PortraitCallback(keras.callbacks.Callback):
    def __init__(self, probe):
        super().__init__()
        self.probe, self.seen = probe, []

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append(self.model.predict(self.probe, verbose=0).mean())


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x = rng.random((32 * STEPS, 64), np.float32)
    model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(32, "tanh"), keras.layers.Dense(64, "sigmoid")])
    model.compile("rmsprop", "binary_crossentropy", jit_compile=False)
    model.predict(x[:8], verbose=0)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, x, batch_size=32, callbacks=[PortraitCallback(x[:8])])
    watch.save()


if __name__ == "__main__":
    main()
