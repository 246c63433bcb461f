# SPDX-License-Identifier: Apache-2.0
"""A tf.data pipeline that decodes, resizes and distorts images sequentially, and a custom training loop. Truth:
input-bound. Fix: num_parallel_calls and prefetch."""

import os

from watch import Watch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf


def decode(image, label):
    pixels = tf.image.convert_image_dtype(tf.io.decode_png(image, channels=3), tf.float32)
    pixels = tf.image.resize(pixels, (72, 72), "bicubic")
    pixels = tf.image.adjust_saturation(tf.image.adjust_hue(pixels, 0.05), 1.2)
    return tf.reshape(pixels[4:68, 4:68], (64 * 64 * 3,)), label


def main():
    watch = Watch(80)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.random.set_seed(0)
    rng = np.random.default_rng(0)
    images = [tf.io.encode_png(rng.integers(0, 255, (224, 224, 3), np.uint8)).numpy() for _ in range(64)]
    data = tf.data.Dataset.from_tensor_slices((images, np.arange(64) % 5)).repeat()
    data = data.map(decode, num_parallel_calls=tf.data.AUTOTUNE) if watch.fixed else data.map(decode)
    data = data.batch(12)
    data = data.prefetch(4) if watch.fixed else data
    first = tf.Variable(tf.random.normal((64 * 64 * 3, 128), stddev=0.01))
    second = tf.Variable(tf.random.normal((128, 5), stddev=0.1))

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            logits = tf.nn.relu(x @ first) @ second
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        for variable, gradient in zip((first, second), tape.gradient(loss, (first, second))):
            variable.assign_sub(1e-3 * gradient)
        return loss

    watch.begins()
    for x, y in watch.input(data):
        watch.fetched()
        loss = train_step(x, y)
        if watch.ended(loss.numpy()):
            break
    watch.save()


if __name__ == "__main__":
    main()
