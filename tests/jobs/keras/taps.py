# SPDX-License-Identifier: Apache-2.0
"""Taps: a model of two tiny layers by model.fit, data in memory; a step takes a millisecond or two, mostly Keras's own.

Truth: host-bound: what surrounds the call of the model takes longer than the model; several steps per call, or a larger
batch. rest_of_step is the step less the same steps with steps_per_execution=8.
"""

import os
import statistics

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 20, 59, 62


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((8,)), layers.Dense(16, "relu"), layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((16 * STEPS, 8), np.float32), rng.standard_normal((16 * STEPS, 1), np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).cache().prefetch(tf.data.AUTOTUNE)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data)
    step_s = statistics.median(b[0] - a[0] for a, b in zip(watch.rows[FIRST:], watch.rows[FIRST + 1 : LAST]))
    model.compile("sgd", "mse", jit_compile=False, steps_per_execution=8)
    together_s = median_step_s(model, (x[:16], y[:16]), steps=160)
    watch.seconds["rest_of_step"] = [step_s - together_s]
    watch.save()


if __name__ == "__main__":
    main()
