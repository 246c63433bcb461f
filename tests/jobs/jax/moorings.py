# SPDX-License-Identifier: Apache-2.0
"""Moorings: each batch is a text file of numbers that np.genfromtxt reads in the loop. Python tracer on.

Truth: input-bound, in load_table (genfromtxt).
"""

import io

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 3, 6, 64


def load_table(path):
    return np.genfromtxt(path, delimiter=",", dtype=np.float32)


def main():
    rng = np.random.default_rng(0)
    for n in range(3):
        out = io.StringIO()
        np.savetxt(out, rng.standard_normal((48, WIDTH)), "%.3f", ",")
        with open(f"moorings{n}.csv", "w") as file:
            file.write(out.getvalue())
    params = make_params(WIDTH, 3)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = load_table(f"moorings{step % 3}.csv")
            watch.fetched()
            params, loss = update(params, jnp.asarray(x))
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
