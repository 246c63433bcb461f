# SPDX-License-Identifier: Apache-2.0
# MNIST and CIFAR as in beginners' guides: shuffled, scaled, batched, one by one or at once.
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
digits = rng.integers(0, 256, (2048, 28, 28), np.uint8)
colour = rng.integers(0, 256, (512, 32, 32, 3), np.uint8)
labels = rng.integers(0, 10, 2048)
mnist = tf.data.Dataset.from_tensor_slices((digits, labels))
cifar = tf.data.Dataset.from_tensor_slices((colour, labels[:512]))


def scaled(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


def hot(image, label):
    return tf.expand_dims(tf.cast(image, tf.float32) / 255.0, -1), tf.one_hot(label, 10)


def padded(image, label):
    image = tf.image.resize_with_crop_or_pad(image, 36, 36)
    image = tf.image.random_flip_left_right(tf.image.random_crop(image, [32, 32, 3]))
    return tf.cast(image, tf.float32) / 127.5 - 1.0, label


results = {
    "plain": list(mnist.shuffle(1024).batch(128).as_numpy_iterator()),
    "scaled": list(mnist.map(scaled).shuffle(1024).batch(128).as_numpy_iterator()),
    "of_batches": list(mnist.shuffle(1024).batch(128).map(scaled).as_numpy_iterator()),
    "cached": list(mnist.map(scaled).cache().shuffle(1024).batch(128).as_numpy_iterator()),
    "hot": list(mnist.map(hot).batch(64).as_numpy_iterator()),
    "padded": list(cifar.map(padded).batch(64).as_numpy_iterator()),
}
