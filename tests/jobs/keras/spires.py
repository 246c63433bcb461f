# SPDX-License-Identifier: Apache-2.0
"""Spires: text files of numbers, interleaved, each line through tf.io.decode_csv and features made of it in a plain map, then
batched.

Truth: input-bound, in the map of parse_line. The wait is that of the step less that of a step on one constant batch.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS, BATCH, COLUMNS = 6, 15, 18, 256, 24


def write_files():
    rng = np.random.default_rng(0)
    for n in range(4):
        np.savetxt(f"spires{n}.csv", rng.standard_normal((BATCH * STEPS // 4, COLUMNS + 1)), "%.4f", ",")


def parse_line(line):
    fields = tf.io.decode_csv(line, [[0.0]] * (COLUMNS + 1))
    x = tf.stack(fields[:-1])
    return tf.concat([x, tf.math.log1p(tf.abs(x))], 0), fields[-1:]


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    write_files()
    model = keras.Sequential([keras.Input((COLUMNS * 2,)), layers.Dense(64, "relu"), layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    files = tf.data.Dataset.from_tensor_slices([f"spires{n}.csv" for n in range(4)])
    data = files.interleave(tf.data.TextLineDataset, cycle_length=4).map(parse_line).shuffle(500).batch(BATCH)
    batch = next(iter(data))
    before_s = median_step_s(model, batch)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data)
    watch.save(min(before_s, median_step_s(model, batch)))


if __name__ == "__main__":
    main()
