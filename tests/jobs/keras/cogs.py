# SPDX-License-Identifier: Apache-2.0
"""Cogs: steps_per_execution=8 on a model of fair size, data in memory.

Truth: compute-bound; a call of the profile is eight batches, which is to be said. Healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

EACH, CALLS = 8, 8
FIRST, LAST, STEPS = 2 * EACH + 1, (2 + CALLS) * EACH, 12 * EACH


class CallWatch(StopWatch):
    """Counts calls, each of which runs several batches."""

    def __init__(self):
        super().__init__(FIRST, LAST)
        self.first, self.count = 2, CALLS
        self.batch = (3, 2 + CALLS)  # TensorBoard counts calls

    def on_train_batch_end(self, batch, logs=None):
        self.end()


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((256,)), layers.Dense(1024, "relu"), layers.Dense(1024, "relu"), layers.Dense(2)]
    )
    model.compile("sgd", "mse", jit_compile=False, steps_per_execution=EACH)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((64 * STEPS, 256), np.float32), rng.standard_normal((64 * STEPS, 2), np.float32)
    watch = CallWatch()
    watch.fit(model, x, y, batch_size=64)
    watch.save()


if __name__ == "__main__":
    main()
