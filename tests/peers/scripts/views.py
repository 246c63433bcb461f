# SPDX-License-Identifier: Apache-2.0
# Contrast: each image in two views by seeds of its number, unlabelled images beside labeled ones, mixed batches.
import numpy as np

import tensorflow as tf

rng = np.random.default_rng(4)
images = rng.random((10, 12, 12, 3)).astype("float32")
labels = np.arange(10) % 3
unlabelled = tf.data.Dataset.from_tensor_slices(images)
labelled = tf.data.Dataset.from_tensor_slices((images[:4], labels[:4]))


def view(image, turns, dx):
    image = tf.image.rot90(image, k=turns)
    image = tf.image.crop_to_bounding_box(image, dx, dx, 8, 8)
    image = tf.image.adjust_contrast(tf.image.adjust_brightness(image, 0.1), 1.5)
    return tf.clip_by_value(image, 0.0, 1.0)


def two(n, image):
    return view(image, 1, 0), view(tf.image.flip_up_down(image), 3, 2), n


def gray(image, *rest):
    return (tf.image.grayscale_to_rgb(tf.image.rgb_to_grayscale(image)), *rest)


views = unlabelled.enumerate().map(two, num_parallel_calls=tf.data.AUTOTUNE)
mixed = tf.data.Dataset.zip((unlabelled.batch(6, drop_remainder=True), labelled.repeat().batch(2))).prefetch(
    buffer_size=tf.data.AUTOTUNE
)


def patches(image):
    p = tf.image.extract_patches(
        images=image[tf.newaxis], sizes=[1, 4, 4, 1], strides=[1, 4, 4, 1], rates=[1, 1, 1, 1], padding="VALID"
    )
    return tf.reshape(p, [-1, 4 * 4 * 3])


results = {
    "views": list(views.batch(5).as_numpy_iterator()),
    "gray": list(views.map(gray).take(2).as_numpy_iterator()),
    "mixed": [(u, (x, y)) for u, (x, y) in mixed.as_numpy_iterator()],
    "patches": list(unlabelled.map(patches).take(2).as_numpy_iterator()),
    "standard": list(unlabelled.map(tf.image.per_image_standardization).take(2).as_numpy_iterator()),
    "similar": [
        tf.linalg.matmul(tf.math.l2_normalize(tf.reshape(a, [len(a), -1]), axis=1),
                         tf.math.l2_normalize(tf.reshape(b, [len(b), -1]), axis=1), transpose_b=True).numpy()
        for a, b, _ in views.batch(5)
    ],
}
