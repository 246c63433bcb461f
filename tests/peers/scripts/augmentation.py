# SPDX-License-Identifier: Apache-2.0
"""Random changes of images whose seeds are counted."""

import numpy as np
import tensorflow as tf

IMG = 24
images = (np.random.RandomState(0).rand(10, 30, 28, 3) * 255).astype(np.uint8)
labels = np.arange(10)
ds = tf.data.Dataset.from_tensor_slices((images, labels))

def resize_and_rescale(image, label):
    image = tf.cast(image, tf.float32)
    image = tf.image.resize(image, [IMG, IMG])
    image = (image / 255.0)
    return image, label

def augment(image_label, seed):
    image, label = image_label
    image, label = resize_and_rescale(image, label)
    image = tf.image.resize_with_crop_or_pad(image, IMG + 6, IMG + 6)
    image = tf.image.stateless_random_crop(image, size=[IMG, IMG, 3], seed=seed)
    image = tf.image.stateless_random_brightness(image, max_delta=0.5, seed=seed)
    image = tf.clip_by_value(image, 0, 1)
    return image, label

counter = tf.data.experimental.Counter()
train = tf.data.Dataset.zip((ds, (counter, counter)))
train = train.map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(4).prefetch(tf.data.AUTOTUNE)
x, y = next(iter(train.as_numpy_iterator()))
val = ds.map(resize_and_rescale).batch(4)
plain = ds.map(lambda im, l: (tf.image.adjust_saturation(im, 3), tf.image.adjust_brightness(im, 0.4), tf.image.central_crop(im, central_fraction=0.5), tf.image.rot90(im), tf.image.rgb_to_grayscale(im), tf.image.per_image_standardization(im)))
results = {"shape": (x.shape, str(x.dtype), y, bool((x >= 0).all() and (x <= 1).all())), "val": list(val.take(1).as_numpy_iterator()), "plain": [tuple(v.astype(np.float32) for v in e[1:]) for e in plain.take(2).as_numpy_iterator()]}
