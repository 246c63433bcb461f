# SPDX-License-Identifier: Apache-2.0
"""A model so small that Keras's own loop takes longer than it. Truth: host-bound. Fix: steps_per_execution=32."""

import os

from watch import Watch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from keras_watch import fit


def main():
    watch = Watch(1600)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False, steps_per_execution=32 if watch.fixed else 1)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((8 * 200, 16), np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(8).cache().repeat()
    fit(watch, model, data)


if __name__ == "__main__":
    main()
