# SPDX-License-Identifier: Apache-2.0
"""Herds: model.fit with validation_data, in short epochs of six steps; data in memory.

Truth: compute-bound; every sixth step is followed by the validation, which takes several times a step.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

EACH, EPOCHS = 6, 5
FIRST, LAST = EACH + 1, EACH * 4


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((256,)), layers.Dense(1536, "relu"), layers.Dense(1024, "relu"), layers.Dense(1)]
    )
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((128 * EACH, 256), np.float32), rng.standard_normal((128 * EACH, 1), np.float32)
    held_x, held_y = rng.standard_normal((4096, 256), np.float32), rng.standard_normal((4096, 1), np.float32)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=128, epochs=EPOCHS, validation_data=(held_x, held_y), validation_batch_size=1024)
    watch.save()


if __name__ == "__main__":
    main()
