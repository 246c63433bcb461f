# SPDX-License-Identifier: Apache-2.0
"""Thimbles: model.fit of an attention block (MultiHeadAttention, LayerNormalization) on arrays in memory.

Truth: compute-bound; healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 4, 10, 12


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    inputs = keras.Input((48, 64))
    h = layers.LayerNormalization()(inputs + layers.MultiHeadAttention(4, 16)(inputs, inputs))
    h = layers.LayerNormalization()(h + layers.Dense(64)(layers.Dense(256, "gelu")(h)))
    model = keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling1D()(h)))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((32 * STEPS, 48, 64), np.float32), rng.integers(0, 3, 32 * STEPS)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=32)
    watch.save()


if __name__ == "__main__":
    main()
