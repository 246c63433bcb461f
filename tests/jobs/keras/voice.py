# SPDX-License-Identifier: Apache-2.0
"""Dialects: files are interleaved, parsed in parallel and prefetched; a CNN over time.

Truth: compute-bound, nothing is wrong; the input is parallel already.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 10, 18, 21


def write_voices(path, count):
    rng = np.random.default_rng(0)
    with tf.io.TFRecordWriter(path) as out:
        for _ in range(count):
            out.write(tf.io.serialize_tensor(tf.constant(rng.standard_normal((200, 16), np.float32))).numpy())


def parse_voice(record):
    voice = tf.ensure_shape(tf.io.parse_tensor(record, tf.float32), (200, 16))
    return voice, tf.cast(voice[0, 0] > 0, tf.int32)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    paths = [f"voices{n}.tfrecord" for n in range(4)]
    for path in paths:
        write_voices(path, 48)
    data = tf.data.Dataset.from_tensor_slices(paths).interleave(
        tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE
    )
    data = data.map(parse_voice, num_parallel_calls=tf.data.AUTOTUNE).repeat().batch(32).prefetch(tf.data.AUTOTUNE)
    layers = keras.layers
    model = keras.Sequential([keras.Input((200, 16)), layers.Conv1D(64, 9, activation="relu")])
    model.add(layers.Conv1D(64, 9, activation="relu"))
    model.add(layers.GlobalAveragePooling1D())
    model.add(layers.Dense(2))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data, steps_per_epoch=STEPS)
    watch.save()


if __name__ == "__main__":
    main()
