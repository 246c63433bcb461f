# SPDX-License-Identifier: Apache-2.0
"""Scans: a small CNN by model.fit; tf.data reads, maps on several threads, caches and prefetches.

Truth: compute-bound, nothing is wrong. The map is parallel and cached already.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 16, 35, 38


def augment(scan, label):
    return tf.image.per_image_standardization(tf.image.flip_left_right(scan)), label


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    scans, labels = rng.standard_normal((192, 48, 48, 1), np.float32), rng.integers(0, 3, 192)
    data = tf.data.Dataset.from_tensor_slices((scans, labels))
    data = data.map(augment, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(192).repeat()
    data = data.batch(16, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    layers = keras.layers
    model = keras.Sequential([keras.Input((48, 48, 1))])
    for filters in (16, 32):
        model.add(layers.Conv2D(filters, 3, padding="same", activation="relu"))
        model.add(layers.MaxPooling2D())
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(3))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data, steps_per_epoch=STEPS)
    watch.save()


if __name__ == "__main__":
    main()
