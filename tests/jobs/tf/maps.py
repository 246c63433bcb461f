# SPDX-License-Identifier: Apache-2.0
"""Maps: a custom loop fed by stoker.data, which records itself (STOKER_DATA_RECORD) beside TensorFlow's profile.

Truth: input-bound, in the map prepare_map, which decodes PNG one at a time. The two files are one process, seen twice
on one clock; they are no ranks. Needs stoker's Python module (PYTHONPATH).
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["STOKER_DATA_RECORD"] = "log/input.stk"
import numpy as np
import stoker.data as sd
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 4, 24


def prepare_map(data):
    return sd.cast(sd.io.decode_png(data, channels=1), "float32") / 255.0


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 255, (64, 32, 32, 1), np.uint8).repeat(8, 1).repeat(8, 2)
    stored = np.array([tf.io.encode_png(m).numpy() for m in coarse], object)
    weights = tf.Variable(tf.random.stateless_normal((256, 64), (0, 0)) / 16)

    @tf.function
    def train_step(maps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(maps @ weights))
        weights.assign_sub(1e-4 * tape.gradient(loss, weights))
        return loss

    batches = iter(sd.Dataset.from_tensor_slices(stored).repeat().map(prepare_map).batch(32))
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            maps = next(batches)
            watch.fetched()
            float(train_step(tf.reshape(tf.convert_to_tensor(maps), (-1, 256))))
    del batches
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
