# SPDX-License-Identifier: Apache-2.0
# The augmentation guide at its own size: 256 x 256 photographs, changed one by one.
import numpy as np
import tensorflow as tf

SIZE = 256
rng = np.random.default_rng(1)
small = rng.integers(0, 256, (8, 16, 16, 3), np.uint8)
images = np.repeat(np.repeat(small, 16, 1), 16, 2)
ds = tf.data.Dataset.from_tensor_slices((images, np.arange(8)))
counter = tf.data.experimental.Counter()


def scaled(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


def resized(image, label):
    return tf.image.resize(tf.cast(image, tf.float32), [180, 180]) / 255.0, label


def flipped(image, label):
    image, label = scaled(image, label)
    image = tf.image.random_flip_left_right(image)
    return tf.image.random_brightness(image, 0.2), label


def jittered(image, label):
    image, label = flipped(image, label)
    image = tf.image.random_contrast(image, 0.8, 1.2)
    image = tf.image.random_saturation(image, 0.8, 1.2)
    return tf.clip_by_value(image, 0.0, 1.0), label


def hued(image, label):
    image, label = scaled(image, label)
    return tf.image.random_hue(image, 0.1), label


def cropped(image_label, seed):
    image, label = scaled(*image_label)
    image = tf.image.resize_with_crop_or_pad(image, SIZE + 6, SIZE + 6)
    image = tf.image.stateless_random_crop(image, size=[SIZE, SIZE, 3], seed=seed)
    image = tf.image.stateless_random_brightness(image, max_delta=0.5, seed=seed)
    return tf.clip_by_value(image, 0, 1), label


def standard(image, label):
    return tf.image.per_image_standardization(image), label


def normal(image, label):
    mean, std = tf.constant([0.485, 0.456, 0.406]), tf.constant([0.229, 0.224, 0.225])
    return (tf.cast(image, tf.float32) / 255.0 - mean) / std, label


def turned(image, label):
    image = tf.image.rot90(tf.image.flip_up_down(image))
    return tf.image.rgb_to_grayscale(image), label


seeded = tf.data.Dataset.zip((ds, (counter, counter)))
results = {
    "scaled": list(ds.map(scaled).batch(32).as_numpy_iterator()),
    "resized": list(ds.map(resized).batch(32).as_numpy_iterator()),
    "flipped": list(ds.map(flipped).batch(32).as_numpy_iterator()),
    "jittered": list(ds.map(jittered).batch(32).as_numpy_iterator()),
    "hued": list(ds.map(hued).batch(32).as_numpy_iterator()),
    "cropped": list(seeded.map(cropped).batch(32).as_numpy_iterator()),
    "standard": list(ds.map(standard).batch(32).as_numpy_iterator()),
    "normal": list(ds.map(normal).batch(32).as_numpy_iterator()),
    "turned": list(ds.map(turned).batch(32).as_numpy_iterator()),
    "of_batches": list(ds.batch(32).map(flipped).as_numpy_iterator()),
}
