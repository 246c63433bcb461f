# SPDX-License-Identifier: Apache-2.0
"""Awnings: a generator parses lines of JSON into batches, and the loop takes them by next(). Python tracer on.

Truth: input-bound, in the generator, stream_rows.
"""

import json

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 3, 8, 64


def stream_rows(lines, size):
    at = 0
    while True:
        rows = [json.loads(lines[(at + n) % len(lines)])["values"] for n in range(size)]
        at += size
        yield np.array(rows, np.float32)


def main():
    rng = np.random.default_rng(0)
    lines = [json.dumps({"id": n, "values": rng.standard_normal(WIDTH).tolist()}) for n in range(400)]
    params, batches = make_params(WIDTH, 3), stream_rows(lines, 160)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = next(batches)
            watch.fetched()
            params, loss = update(params, jnp.asarray(x))
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
