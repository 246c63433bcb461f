# SPDX-License-Identifier: Apache-2.0
"""Pines: model.fit on a keras.utils.PyDataset that has two workers (threads), which are too few for its archive.

Truth: input-bound, in PyDataset.__getitem__. The wait is that of the step less that of a step on one constant batch.
"""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 8, 17, 20


class Pines(keras.utils.PyDataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, n):
        rng = np.random.default_rng(n)
        time.sleep(0.08)  # an archive of tapes
        return rng.standard_normal((64, 128), np.float32), rng.integers(0, 4, 64)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((128,)), layers.Dense(256, "relu"), layers.Dense(4)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    pines = Pines(workers=2, max_queue_size=4)
    before_s = median_step_s(model, pines[0])
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, pines)
    watch.save(min(before_s, median_step_s(model, pines[0])))


if __name__ == "__main__":
    main()
