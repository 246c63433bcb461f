# SPDX-License-Identifier: Apache-2.0
"""Compares loading files one by one between steps with a pipeline that loads ahead.

The loop loads, then trains, then loads: the device waits for each file. The pipeline reads and decodes in threads while
the device works; the slower of the two sets the pace.
"""

import os
import tempfile

import numpy as np
import stoker.data as sd

import timing

BATCH = 16


def files(is_small, made={}):
    """Names of PNG files, created once."""
    n = 64 if is_small else 1024
    if n not in made:
        made[n] = tempfile.TemporaryDirectory(prefix="element-loop-")
        y, x = np.mgrid[0:128, 0:128]
        for i in range(n):
            image = np.stack(
                [(x * (i % 7 + 1) + y) % 256, (y * 2 + i) % 256, (x ^ y) % 256], -1
            ).astype(np.uint8)
            with open(os.path.join(made[n].name, f"{i:04}.png"), "wb") as f:
                f.write(bytes(sd.io.encode_png(image)))
    return sorted(os.path.join(made[n].name, f) for f in os.listdir(made[n].name))


def load(path):
    image = sd.io.decode_png(sd.io.read_file(path), channels=3)
    return sd.cast(sd.image.resize(image, [96, 96]), "float32") / 255.0


def train(batches):
    n = 0
    for batch in timing.steps(batches):
        timing.device_step(0.01)
        n += len(batch)
    return n


def loop(is_small):
    """A Python loop that loads element by element"""

    def batches():
        names = files(is_small)
        for i in range(0, len(names), BATCH):
            yield np.stack([np.asarray(load(name)) for name in names[i : i + BATCH]])

    return train(batches())


def before(is_small):
    """stoker.data, element by element, no prefetch"""
    return train(sd.Dataset.from_tensor_slices(files(is_small)).map(load).batch(BATCH))


def after(is_small):
    """stoker.data, parallel map and prefetch"""
    ds = sd.Dataset.from_tensor_slices(files(is_small)).map(load, sd.AUTOTUNE)
    return train(ds.batch(BATCH).prefetch(sd.AUTOTUNE))


def tf_load(path):
    import tensorflow as tf

    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return tf.cast(tf.image.resize(image, [96, 96]), tf.float32) / 255.0


def tf_loop(is_small):
    """TensorFlow, a loop that loads element by element"""
    import tensorflow as tf

    names = files(is_small)
    return train(
        tf.stack([tf_load(name) for name in names[i : i + BATCH]])
        for i in range(0, len(names), BATCH)
    )


def tf_after(is_small):
    """TensorFlow, parallel map and prefetch"""
    import tensorflow as tf

    ds = tf.data.Dataset.from_tensor_slices(files(is_small)).map(tf_load, tf.data.AUTOTUNE)
    return train(ds.batch(BATCH).prefetch(tf.data.AUTOTUNE))


if __name__ == "__main__":
    timing.main(
        __doc__.split("\n")[0], [loop, before, after, tf_loop, tf_after], "images", prepare=files
    )
