# SPDX-License-Identifier: Apache-2.0
"""Minarets: spectrums of audio by NumPy, in tf.numpy_function inside of a parallel map. Step marks.

Truth: input-bound, in numpy_function (take_spectrum), which the interpreter's lock keeps one at a time.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 10


def take_spectrum(samples):
    frames = np.lib.stride_tricks.sliding_window_view(samples, 512)[::128]
    power = np.abs(np.fft.rfft(frames * np.hanning(512))) ** 2
    return np.log1p(np.array([power[:, n : n + 8].mean(1) for n in range(0, 256, 8)])).astype(np.float32).mean(1)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    clips = np.random.default_rng(0).standard_normal((64, 16000)).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(clips).repeat()
    data = data.map(lambda x: tf.ensure_shape(tf.numpy_function(take_spectrum, [x], tf.float32), (32,)), num_parallel_calls=2)
    batches = iter(data.batch(16).prefetch(2))
    w = tf.Variable(tf.random.stateless_normal((32, 8), (0, 1)))

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ w) @ tf.transpose(w) - x))
        w.assign_sub(0.001 * tape.gradient(loss, w))
        return loss

    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x = next(batches)
            watch.fetched()
            float(train_step(x))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
