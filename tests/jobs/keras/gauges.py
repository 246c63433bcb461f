# SPDX-License-Identifier: Apache-2.0
"""Gauges: a callback of the job's own writes a histogram of every weight to a file after each batch; data in memory.

Truth: host-bound, by the callback, which the profile lacks: with Trace( it would have it.
"""

import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 6, 21, 24


class WeightHistograms(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        rows = {w.path: np.histogram(w.numpy(), 64)[0].tolist() for w in self.model.trainable_weights}
        with open("gauges.jsonl", "a") as out:
            out.write(json.dumps({"batch": batch, "loss": float(logs["loss"]), **rows}) + "\n")


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((256,)), layers.Dense(512, "relu"), layers.Dense(256, "relu"), layers.Dense(1)]
    )
    model.compile("adam", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((32 * STEPS, 256), np.float32), rng.standard_normal((32 * STEPS, 1), np.float32)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=32, callbacks=[WeightHistograms()])
    watch.save()


if __name__ == "__main__":
    main()
