# SPDX-License-Identifier: Apache-2.0
"""Bonnets: a TextVectorization layer in a plain map of tf.data, behind which batches are made; no prefetch of its own.

Truth: input-bound, in the map: it is not parallel. The wait is that of the step less that of a step on one constant batch.
"""

import random
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 6, 13, 16


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    rng = random.Random(0)
    words = [f"w{n}" for n in range(500)]
    texts = [" ".join(rng.choices(words, k=200)) for _ in range(256)]
    vectorize = layers.TextVectorization(max_tokens=512, output_sequence_length=200)
    vectorize.adapt(texts[:64])
    model = keras.Sequential(
        [keras.Input((200,)), layers.Embedding(512, 16), layers.GlobalAveragePooling1D(), layers.Dense(64, "relu"), layers.Dense(2)]
    )
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False  # else the wait lies beside the step
    data = tf.data.Dataset.from_tensor_slices((texts, [n % 2 for n in range(256)])).repeat()
    data = data.map(lambda text, label: (vectorize(text), label)).batch(64).with_options(options)
    batch = next(iter(data))
    before_s = median_step_s(model, batch)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data, steps_per_epoch=STEPS)
    watch.save(min(before_s, median_step_s(model, batch)))


if __name__ == "__main__":
    main()
