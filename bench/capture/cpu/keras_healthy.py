# SPDX-License-Identifier: Apache-2.0
"""model.fit of a convolutional network on arrays in memory, with steps much longer than Keras's own loop overhead.
Truth: compute-bound, nothing to gain. It has no fix."""

import os

from watch import Watch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from keras_watch import fit


def main():
    watch = Watch(70)
    tf.config.threading.set_intra_op_parallelism_threads(len(os.sched_getaffinity(0)))
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(24, 3, activation="relu"),
            layers.Conv2D(24, 3, activation="relu"),
            layers.Conv2D(24, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((256 * 8, 28, 28, 1), np.float32), rng.integers(0, 10, 256 * 8)
    fit(watch, model, tf.data.Dataset.from_tensor_slices((x, y)).batch(256).repeat().prefetch(2))


if __name__ == "__main__":
    main()
