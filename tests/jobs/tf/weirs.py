# SPDX-License-Identifier: Apache-2.0
"""Weirs: tf.py_function with Pillow in a parallel map, because someone read "num_parallel_calls makes it fast"; still
only one Python call runs at a time.

Truth: input-bound, in the py_function: TensorFlow's own operations, or worker processes.
"""

import io
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from PIL import Image

from stopwatch import StopWatch

WARMUP, STEPS = 4, 10


def encode(seed):
    data = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (96, 96, 3), np.uint8)).save(data, "PNG")
    return data.getvalue()


def sharpen(data):
    pixels = Image.open(io.BytesIO(data.numpy())).convert("L")
    rows = [[min(255, 2 * pixels.getpixel((c, r)) - pixels.getpixel((c + 1, r))) for c in range(64)] for r in range(48)]
    return np.array(rows, np.float32).ravel() / 255


def prepare(data):
    return tf.ensure_shape(tf.py_function(sharpen, [data], tf.float32), (48 * 64,))


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.random.set_seed(0)
    data = tf.data.Dataset.from_tensor_slices([encode(n) for n in range(16)]).repeat()
    data = data.map(prepare, num_parallel_calls=4).batch(8).prefetch(1)
    w = tf.Variable(tf.random.normal((48 * 64, 48), stddev=0.01))

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ w @ tf.transpose(w) - x))
        w.assign_sub(0.001 * tape.gradient(loss, w))
        return loss

    batches = iter(data)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x = next(batches)
            watch.fetched()
            train_step(x).numpy()
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
