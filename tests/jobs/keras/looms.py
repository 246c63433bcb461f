# SPDX-License-Identifier: Apache-2.0
"""Looms: a transformer block written with the functional interface (MultiHeadAttention, LayerNormalization), on a
dataset that is cached and prefetched.

Truth: compute-bound, nothing is wrong.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 6, 11, 13


def make_model():
    layers = keras.layers
    threads = keras.Input((48, 64))
    woven = layers.MultiHeadAttention(4, 32)(threads, threads)
    woven = layers.LayerNormalization()(threads + woven)
    woven = layers.LayerNormalization()(woven + layers.Dense(64)(layers.Dense(512, "gelu")(woven)))
    return keras.Model(threads, layers.Dense(4)(layers.GlobalAveragePooling1D()(woven)))


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    model = make_model()
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((1024, 48, 64), np.float32), rng.integers(0, 4, 1024)
    data = (
        tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(1024).repeat().batch(48).prefetch(tf.data.AUTOTUNE)
    )
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data, steps_per_epoch=STEPS)
    watch.save()


if __name__ == "__main__":
    main()
