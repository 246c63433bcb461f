# SPDX-License-Identifier: Apache-2.0
"""Keels: each batch is distorted in NumPy (noise, rolled rows) by a function of the job's own, before the step. Python tracer on.

Truth: input-bound, in jitter_rows.
"""

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 3, 8, 256


def jitter_rows(rows, rng):
    noisy = rows + rng.normal(0, 0.1, rows.shape)
    return np.stack([np.roll(row, rng.integers(8)) for row in noisy]).astype(np.float32)


def main():
    rng = np.random.default_rng(0)
    rows, params = rng.standard_normal((512, WIDTH)).astype(np.float32), make_params(WIDTH, 2)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = jitter_rows(rows, rng)
            watch.fetched()
            params, loss = update(params, jnp.asarray(x[:64]))
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
