# SPDX-License-Identifier: Apache-2.0
"""Sirens: two recurrent layers (GRU with a recurrent dropout, so that each time step is a round of tf.while_loop) over 120 steps
of small batches; arrays in memory.

Truth: the step is a loop of thousands of tiny operations: model work or the framework's; nothing waits for input.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 4, 8, 10


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((120, 8)),
            layers.GRU(16, return_sequences=True, recurrent_dropout=0.1),
            layers.GRU(16, recurrent_dropout=0.1),
            layers.Dense(1),
        ]
    )
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((8 * STEPS, 120, 8), np.float32), rng.standard_normal((8 * STEPS, 1), np.float32)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=8)
    watch.save()


if __name__ == "__main__":
    main()
