# SPDX-License-Identifier: Apache-2.0
"""model.fit on a dataset whose map queries a remote store, one element after the other. Truth: input-bound. Fix:
num_parallel_calls and prefetch. The map's own stopwatch gives the true wait, since nothing else runs then."""

import os
import time

from watch import Watch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from keras_watch import fit


def main():
    watch = Watch(100)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    table = np.random.default_rng(0).standard_normal((64, 512), np.float32)

    def look_up(n):
        before = time.perf_counter()
        time.sleep(0.002)  # the store
        watch.spans.append((before, time.perf_counter()))
        return table[n % 64]

    def read(n):
        row = tf.numpy_function(look_up, [n], tf.float32)
        return tf.ensure_shape(row, (512,)), n % 4

    data = tf.data.Dataset.range(16 * 400)
    data = data.map(read, num_parallel_calls=16) if watch.fixed else data.map(read)
    data = data.batch(16, drop_remainder=True)
    data = data.prefetch(4) if watch.fixed else data
    layers = keras.layers
    model = keras.Sequential([keras.Input((512,)), layers.Dense(1024, "relu"), layers.Dense(1024, "relu"), layers.Dense(4)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    fit(watch, model, data)


if __name__ == "__main__":
    main()
