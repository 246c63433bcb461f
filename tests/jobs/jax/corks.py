# SPDX-License-Identifier: Apache-2.0
"""Corks: all parameters are fetched and written with np.savez_compressed after each step. Python tracer on.

Truth: host-bound, in keep_state; rarely, or on another thread, would be the cure.
"""

import jax
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 3, 8, 128


def keep_state(params, path):
    np.savez_compressed(path, *[np.asarray(p) for p in params])


def main():
    params = make_params(WIDTH, 3)
    x = np.random.default_rng(0).standard_normal((256, WIDTH)).astype(np.float32)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            float(loss)
            keep_state(params, "corks.npz")
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
