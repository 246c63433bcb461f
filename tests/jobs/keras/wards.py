# SPDX-License-Identifier: Apache-2.0
"""Wards: model.fit on data in memory with class weights, and a small validation after each epoch of ten steps.

Truth: compute-bound, nothing is wrong: what lies between the epochs is short.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST = 11, 30


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((256,)), layers.Dense(1536, "relu"), layers.Dense(1536, "relu"), layers.Dense(3)]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2560, 256), np.float32), rng.integers(0, 3, 2560)
    held_out = (x[:256], y[:256])
    watch = StopWatch(FIRST, LAST)
    weights = {0: 1.0, 1: 2.0, 2: 5.0}
    watch.fit(model, x, y, batch_size=256, epochs=3, class_weight=weights, validation_data=held_out)
    watch.save()


if __name__ == "__main__":
    main()
