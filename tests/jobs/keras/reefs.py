# SPDX-License-Identifier: Apache-2.0
"""Reefs: tf.data decodes PNGs with a plain map, one at a time, and nothing is prefetched.

Truth: input-bound, in decode_reef: the map is not parallel. The wait is that of the step less that of a step on one
constant batch.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 8, 19, 22


def write_reefs(count):
    rng = np.random.default_rng(0)
    for n in range(count):
        image = rng.integers(0, 255, (40, 40, 3), np.uint8).repeat(8, 0).repeat(8, 1)
        tf.io.write_file(f"reef{n}.png", tf.io.encode_png(image))


def decode_reef(path):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, (32, 32)) / 255, tf.strings.length(path) % 2


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    write_reefs(16)
    paths = [f"reef{n}.png" for n in range(16)]
    data = tf.data.Dataset.from_tensor_slices(paths).repeat().map(decode_reef).batch(24)
    layers = keras.layers
    model = keras.Sequential([keras.Input((32, 32, 3)), layers.Conv2D(8, 3, activation="relu"), layers.Flatten()])
    model.add(layers.Dense(2))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    batch = next(iter(data))
    before_s = median_step_s(model, batch)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data, steps_per_epoch=STEPS)
    watch.save(min(before_s, median_step_s(model, batch)))


if __name__ == "__main__":
    main()
