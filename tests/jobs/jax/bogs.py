# SPDX-License-Identifier: Apache-2.0
"""Bogs: a short job, profiled from its very first step on. Python tracer off, step marks.

Truth: cold-start: the first step traces and compiles, and holds nearly all of the time; the others compute.
"""

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

STEPS = 10


def main():
    rng = np.random.default_rng(0)
    params = make_params(256, 3)
    x = jnp.asarray(rng.standard_normal((256, 256), dtype=np.float32))
    watch = StopWatch(0, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            loss.block_until_ready()
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
