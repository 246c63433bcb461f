# SPDX-License-Identifier: Apache-2.0
"""Fields: model.fit under the policy mixed_bfloat16, tf.data from memory, cached and prefetched.

Truth: compute-bound, nothing is wrong.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 8, 17, 20


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    layers = keras.layers
    model = keras.Sequential([keras.Input((256,)), layers.Dense(512, "gelu"), layers.Dense(512, "gelu")])
    model.add(layers.Dense(1, dtype="float32"))
    model.compile("adamw", "mse", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((1024, 256), np.float32), rng.standard_normal((1024, 1), np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, y)).cache().repeat().batch(128).prefetch(tf.data.AUTOTUNE)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data, steps_per_epoch=STEPS)
    watch.save()


if __name__ == "__main__":
    main()
