# SPDX-License-Identifier: Apache-2.0
"""Canyons: image_dataset_from_directory, as the tutorial has it, straight into model.fit: no cache, no prefetch.

Truth: input-bound: the images are decoded and made smaller, in a map that is parallel already. The wait is that of the
step less that of a step on one constant batch.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 5, 14, 16


def write_canyons(count):
    rng = np.random.default_rng(0)
    for n in range(count):
        kind = f"canyons/{'wide' if n % 2 else 'narrow'}"
        os.makedirs(kind, exist_ok=True)
        picture = rng.integers(0, 255, (600, 800, 3), np.uint8)
        tf.io.write_file(f"{kind}/{n}.jpg", tf.io.encode_jpeg(picture))


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    write_canyons(24)
    data = keras.utils.image_dataset_from_directory("canyons", image_size=(64, 64), batch_size=12, verbose=False)
    layers = keras.layers
    model = keras.Sequential([keras.Input((64, 64, 3)), layers.Rescaling(1 / 255), layers.Conv2D(8, 3, strides=2)])
    model.add(layers.Flatten())
    model.add(layers.Dense(2))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    batch = next(iter(data))
    before_s = median_step_s(model, batch)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data.repeat(), steps_per_epoch=STEPS)
    watch.save(min(before_s, median_step_s(model, batch)))


if __name__ == "__main__":
    main()
