# SPDX-License-Identifier: Apache-2.0
"""The tutorial's job in Keras: a small network whose batches come from slow storage (docs/tutorial.md)."""
import time

import keras
import numpy as np
import tensorflow as tf

BATCH, READ_S, WORK, STEPS = 8, 0.014, 900, 60


def read_sample(index):
    time.sleep(READ_S)  # stands for a file on the network
    return np.random.default_rng(int(index)).standard_normal((64, WORK), dtype=np.float32)


def load(index):
    x = tf.ensure_shape(tf.numpy_function(read_sample, [index], tf.float32), (64, WORK))
    return x, index % 10


def main():
    ds = tf.data.Dataset.range(STEPS * BATCH)
    ds = ds.map(load)
    ds = ds.batch(BATCH, drop_remainder=True)
    model = keras.Sequential([keras.layers.Dense(2 * WORK, "relu"), keras.layers.Dense(10), keras.layers.GlobalAveragePooling1D()])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(ds, verbose=2)


if __name__ == "__main__":
    main()
