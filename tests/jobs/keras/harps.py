# SPDX-License-Identifier: Apache-2.0
"""Harps: model.fit of Conv1D layers on arrays in memory.

Truth: compute-bound; healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 5, 14, 16


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((256, 8)),
            layers.Conv1D(32, 5, activation="relu"),
            layers.Conv1D(32, 5, strides=2, activation="relu"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(3),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((32 * STEPS, 256, 8), np.float32), rng.integers(0, 3, 32 * STEPS)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=32)
    watch.save()


if __name__ == "__main__":
    main()
