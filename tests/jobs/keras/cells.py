# SPDX-License-Identifier: Apache-2.0
"""Cells: model.fit on a keras.utils.PyDataset with one worker, profiled by the TensorBoard callback.

Truth: input-bound, in PyDataset.__getitem__ (Python, which isn't in the profile): workers=, or tf.data. The wait
is that of the step less that of a step on one constant batch.
"""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 12, 35, 38


class Cells(keras.utils.PyDataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, n):
        rng = np.random.default_rng(n)
        time.sleep(0.03)  # the microscope's archive
        return rng.standard_normal((64, 256), np.float32), rng.integers(0, 4, 64)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((256,)), layers.Dense(512, "relu"), layers.Dense(4)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    cells = Cells()
    before_s = median_step_s(model, cells[0])
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, cells)
    constant_s = min(before_s, median_step_s(model, cells[0]))
    watch.save(constant_s)


if __name__ == "__main__":
    main()
