# SPDX-License-Identifier: Apache-2.0
"""Ladles: model.fit on a PyDataset that opens a compressed archive of NumPy's for each batch; no workers are asked for.

Truth: input-bound, in PyDataset.__getitem__. The wait is that of the step less that of a step on one constant batch.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 6, 13, 16


class Ladles(keras.utils.PyDataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, n):
        with np.load(f"ladles{n % 4}.npz") as batch:
            return batch["x"], batch["y"]


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    for n in range(4):
        x = rng.integers(0, 40, (256, 2048)).astype(np.float32)
        np.savez_compressed(f"ladles{n}.npz", x=x, y=rng.integers(0, 4, 256))
    layers = keras.layers
    model = keras.Sequential([keras.Input((2048,)), layers.Dense(64, "relu"), layers.Dense(4)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    data = Ladles()
    before_s = median_step_s(model, data[0])
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data)
    watch.save(min(before_s, median_step_s(model, data[0])))


if __name__ == "__main__":
    main()
