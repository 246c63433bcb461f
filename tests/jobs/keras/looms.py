# SPDX-License-Identifier: Apache-2.0
"""Looms: model.fit on a PyDataset that decompresses and augments its batches in NumPy, without workers.

Truth: input-bound, in PyDataset.__getitem__. The wait is that of the step less that of a step on one constant batch.
"""

import zlib
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 6, 15, 18


class Looms(keras.utils.PyDataset):
    def __init__(self, **options):
        super().__init__(**options)
        rng = np.random.default_rng(0)
        self.blobs = [zlib.compress(rng.integers(0, 16, (64, 32, 32), np.uint8).tobytes()) for _ in range(STEPS)]

    def __len__(self):
        return STEPS

    def __getitem__(self, n):
        rng = np.random.default_rng(n)
        x = np.frombuffer(zlib.decompress(self.blobs[n]), np.uint8).reshape(64, 32, 32).astype(np.float32)
        x = np.stack([np.rot90(image, rng.integers(4)) + rng.normal(0, 0.1, (32, 32)) for image in x])
        return x.reshape(64, 1024).astype(np.float32), rng.integers(0, 4, 64)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((1024,)), layers.Dense(64, "relu"), layers.Dense(4)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    data = Looms()
    before_s = median_step_s(model, data[0])
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data)
    watch.save(min(before_s, median_step_s(model, data[0])))


if __name__ == "__main__":
    main()
