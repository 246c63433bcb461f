# SPDX-License-Identifier: Apache-2.0
"""Ovens: keras.utils.image_dataset_from_directory over JPEGs of 320 x 320, resized to 64, as in Keras' tutorial; nothing is
cached.

Truth: input-bound: decoding and resizing of each epoch, which cache() would keep. The wait is that of the step less that of a step
on one constant batch.
"""

import io
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from PIL import Image

from stopwatch import StopWatch, median_step_s

FIRST, LAST, COUNT, BATCH = 5, 12, 288, 16


def write_photos(folder):
    rng = np.random.default_rng(0)
    for n in range(COUNT):
        out = io.BytesIO()
        coarse = Image.fromarray(rng.integers(0, 255, (20, 20, 3), np.uint8)).resize((320, 320))
        coarse.save(out, "jpeg")
        path = pathlib.Path(folder, f"kind{n % 3}", f"{n}.jpg")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(out.getvalue())


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    write_photos("photos")
    data = keras.utils.image_dataset_from_directory(
        "photos", image_size=(64, 64), batch_size=BATCH, shuffle=True, verbose=False
    )
    model = keras.Sequential(
        [
            keras.Input((64, 64, 3)),
            layers.Rescaling(1 / 255),
            layers.Conv2D(8, 3, strides=2, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3),
        ]
    )
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    batch = next(iter(data))
    before_s = median_step_s(model, batch)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data)
    watch.save(min(before_s, median_step_s(model, batch)))


if __name__ == "__main__":
    main()
