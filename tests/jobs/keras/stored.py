# SPDX-License-Identifier: Apache-2.0
"""Echoes: GZIP-compressed TFRecord files, read one after the other and parsed by a plain map.

Truth: input-bound, in reading and decompressing the files. The wait is that of the step less that of a step on one
constant batch.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS, LENGTH = 8, 19, 22, 60000


def write_echoes(path, count):
    rng = np.random.default_rng(0)
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions("GZIP", compression_level=1)) as out:
        for _ in range(count):
            values = tf.train.Feature(float_list=tf.train.FloatList(value=rng.integers(0, 99, LENGTH) / 99))
            out.write(tf.train.Example(features=tf.train.Features(feature={"echo": values})).SerializeToString())


def parse_echo(record):
    echo = tf.io.parse_single_example(record, {"echo": tf.io.FixedLenFeature([LENGTH], tf.float32)})["echo"]
    return echo[::200], tf.reduce_mean(echo)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    paths = [f"echoes{n}.tfrecord.gz" for n in range(4)]
    for path in paths:
        write_echoes(path, 24)
    data = tf.data.TFRecordDataset(paths, compression_type="GZIP").repeat().map(parse_echo).batch(16)
    model = keras.Sequential([keras.Input((LENGTH // 200,)), keras.layers.Dense(256, "relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False)
    batch = next(iter(data))
    before_s = median_step_s(model, batch)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data, steps_per_epoch=STEPS)
    watch.save(min(before_s, median_step_s(model, batch)))


if __name__ == "__main__":
    main()
