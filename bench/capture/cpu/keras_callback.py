# SPDX-License-Identifier: Apache-2.0
"""A callback that writes norms and histograms of all weights after each batch. Truth: host-bound. Fix: every fifty
batches."""

import csv
import os
import tempfile
import time

from watch import Watch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from keras_watch import fit


class WriteWeights(keras.callbacks.Callback):
    def __init__(self, file, every, watch):
        super().__init__()
        self.rows, self.every, self.watch = csv.writer(file), every, watch

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every:
            return
        before = time.perf_counter()
        for variable in self.model.trainable_variables:
            values = variable.numpy()
            counts, _ = np.histogram(values, 64)
            self.rows.writerow([batch, variable.path, float(np.linalg.norm(values)), *counts])
        self.watch.add("callback_s", time.perf_counter() - before)


def main():
    watch = Watch(100)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((256,)), layers.Dense(768, "relu"), layers.Dense(768, "relu"), layers.Dense(3)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((16 * 40, 256), np.float32), rng.integers(0, 3, 16 * 40)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).repeat()
    with tempfile.NamedTemporaryFile("w", newline="") as file:
        fit(watch, model, data, [WriteWeights(file, 50 if watch.fixed else 1, watch)])


if __name__ == "__main__":
    main()
