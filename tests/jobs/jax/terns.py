# SPDX-License-Identifier: Apache-2.0
"""Terns: the loop keeps the hard examples of each batch, so that their number is another one in each step; update is compiled for
each. Python tracer off.

Truth: host-bound: update is compiled again in each step, for an x of another shape; pad to few sizes.
"""

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 2, 6, 64


def main():
    rng = np.random.default_rng(0)
    params = make_params(WIDTH, 4)
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = rng.standard_normal((128, WIDTH)).astype(np.float32)
            hard = x[np.argsort(np.abs(x).sum(1))[: 40 + step * 5]]
            params, loss = update(params, jnp.asarray(hard))
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
