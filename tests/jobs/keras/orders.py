# SPDX-License-Identifier: Apache-2.0
"""Orders: model.fit from a Python generator (Dataset.from_generator), profiled by the TensorBoard callback.

Truth: input-bound, in the generator: one element at a time under the interpreter's lock, which num_parallel_calls
does not change. The wait is that of the step less that of a step on one constant batch.
"""

import os
import random

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 8, 19, 22


def orders():
    """One order at a time: prices of its articles, looked up in plain Python."""
    rng = random.Random(0)
    prices = {n: n % 97 / 10 for n in range(5000)}
    while True:
        basket = [rng.randrange(5000) for _ in range(256)]
        yield np.array([prices[n] for n in basket], "float32"), np.float32(len(set(basket)) > 249)


def make_model():
    layers = keras.layers
    model = keras.Sequential([keras.Input((256,)), layers.Dense(512, "relu"), layers.Dense(1)])
    model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True), jit_compile=False)
    return model


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    signature = (tf.TensorSpec((256,), tf.float32), tf.TensorSpec((), tf.float32))
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False  # else the wait isn't in the step
    data = tf.data.Dataset.from_generator(orders, output_signature=signature).batch(64).with_options(options)
    model = make_model()
    x, y = next(iter(data))
    before_s = median_step_s(model, (x, y))
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data, steps_per_epoch=STEPS)
    constant_s = min(before_s, median_step_s(model, (x, y)))
    watch.save(constant_s)


if __name__ == "__main__":
    main()
