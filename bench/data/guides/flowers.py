# SPDX-License-Identifier: Apache-2.0
# Image loading: 320 x 240 JPEG files to 180 x 180 floats, labels from the folder's name.
import os

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
for name in ("daisy", "roses"):
    os.makedirs(os.path.join(FOLDER, name), exist_ok=True)  # noqa: F821
    for i in range(8):
        small = rng.integers(0, 256, (15, 20, 3), np.uint8)
        image = np.repeat(np.repeat(small, 16, 0), 16, 1)
        tf.io.write_file(os.path.join(FOLDER, name, f"{i}.jpg"), tf.io.encode_jpeg(image))  # noqa: F821

names = np.array(["daisy", "roses"])
files = tf.data.Dataset.list_files(os.path.join(FOLDER, "*", "*.jpg"), shuffle=False)  # noqa: F821


def label_of(path):
    return tf.argmax(tf.strings.split(path, os.path.sep)[-2] == names)


def load(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, [180, 180]), label_of(path)


def augment(image, label):
    image = tf.image.random_flip_left_right(image / 255.0)
    return tf.image.random_brightness(image, 0.1), label


def crop(path):
    image = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.random_crop(image, [200, 200, 3])
    return tf.image.convert_image_dtype(tf.image.resize(image, [128, 128]) / 255.0, tf.float32)


results = {
    "labels": list(files.map(label_of).as_numpy_iterator()),
    "load": list(files.map(load).batch(32).as_numpy_iterator()),
    "augment": list(files.map(load).map(augment).batch(32).as_numpy_iterator()),
    "crop": list(files.map(crop).batch(32).as_numpy_iterator()),
}
