# SPDX-License-Identifier: Apache-2.0
"""Epistles: lines of text are tokenised by a regular expression and a dict, in the loop, before each step. Python tracer on.

Truth: input-bound, in encode_lines: make it ahead, or once beforehand.
"""

import random
import re

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, LENGTH = 4, 6, 256
PATTERN = re.compile(r"[a-z]+|\d|\S")


def encode_lines(lines, vocabulary):
    ids = np.zeros((len(lines), LENGTH), np.float32)
    for row, line in enumerate(lines):
        found = [vocabulary.setdefault(word, len(vocabulary) + 1) for word in PATTERN.findall(line.lower())][:LENGTH]
        ids[row, : len(found)] = found
    return ids / 1000


def main():
    rng = random.Random(0)
    lines = [" ".join(f"{rng.choice('abcdefgh')}{rng.choice('aeiou')}{n % 7}" for n in range(220)) for _ in range(512)]
    params, vocabulary = make_params(LENGTH, 3), {}
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = encode_lines(rng.sample(lines, 8), vocabulary)
            watch.fetched()
            params, loss = update(params, jnp.asarray(x))
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
