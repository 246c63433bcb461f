# SPDX-License-Identifier: Apache-2.0
"""Batches shared by the pairs of TensorFlow and Keras."""

import time

import numpy as np
import tensorflow as tf

BATCH = 64


def samples(passes, prefetch=0, constant=False, calls=None):
    raw = np.random.default_rng(0).standard_normal((1024, 256), np.float32)

    def work(x, y):
        wide = tf.tile(x, [1, 64])
        for _ in range(passes):
            wide = tf.tanh(wide * 1.01)
        return wide[:, :256], y

    data = tf.data.Dataset.from_tensor_slices((raw, raw[:, :1])).repeat().batch(BATCH, drop_remainder=True)
    data = data.map(work, num_parallel_calls=calls)
    if constant:
        return tf.data.Dataset.from_tensors(next(iter(data))).repeat()
    return data.prefetch(prefetch) if prefetch else data


def stored(prefetch, wait_s=0.004):
    """Batches that wait for a store, in Python."""

    def read(at):
        time.sleep(wait_s)
        return np.full((BATCH, 256), float(at % 7), np.float32)

    def load(at):
        x = tf.ensure_shape(tf.numpy_function(read, [at], tf.float32), (BATCH, 256))
        return x, x[:, :1]

    data = tf.data.Dataset.range(1 << 20).map(load)
    return data.prefetch(prefetch) if prefetch else data


def generated(passes, constant=False):
    """Batches that a Python generator makes."""
    raw = np.random.default_rng(0).standard_normal((BATCH, 16384), np.float32)

    def batches():
        while True:
            wide = raw
            for _ in range(passes):
                wide = np.tanh(wide * 1.01)
            yield wide[:, :256], wide[:, :1]

    shapes = tf.TensorSpec((BATCH, 256), tf.float32), tf.TensorSpec((BATCH, 1), tf.float32)
    data = tf.data.Dataset.from_generator(batches, output_signature=shapes)
    return tf.data.Dataset.from_tensors(next(iter(data))).repeat() if constant else data
