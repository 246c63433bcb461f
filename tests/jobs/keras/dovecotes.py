# SPDX-License-Identifier: Apache-2.0
"""Dovecotes: the job's own loop calls train_on_batch; before each call it augments its batch in NumPy. Step marks, so that the
profile has steps; the profile holds nothing of the augmentation.

Truth: about half is augment(), of the input, which the profile cannot show: with Trace( it would.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

import truth

FIRST, COUNT = 4, 12


def augment(images, rng):
    flipped = np.where(rng.random((len(images), 1, 1)) < 0.5, images, images[:, :, ::-1])
    noisy = flipped + rng.normal(0, 0.05, images.shape)
    return (noisy - noisy.mean((1, 2), keepdims=True)).astype(np.float32).reshape(len(images), -1)


class Watch(truth.StopWatch):
    def start_profiler(self):
        tf.profiler.experimental.start("log")

    def stop_profiler(self):
        tf.profiler.experimental.stop()


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((1024,)), layers.Dense(128, "relu"), layers.Dense(4)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    rng = np.random.default_rng(0)
    images, labels = rng.standard_normal((128, 32, 32), np.float32), rng.integers(0, 4, 128)
    watch = Watch(FIRST, COUNT)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x = augment(images, rng)
            watch.fetched()
            model.train_on_batch(x, labels)
    watch.save("tensorflow_cpu", "keras")


if __name__ == "__main__":
    main()
