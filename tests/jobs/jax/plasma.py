# SPDX-License-Identifier: Apache-2.0
"""Plasma: a jitted step over data in memory; the Python tracer is off.

Truth: compute-bound, nothing is wrong: the device works nearly all of the time.
"""

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 4, 20


def main():
    rng = np.random.default_rng(0)
    params = make_params(512, 4)
    x = jnp.asarray(rng.standard_normal((384, 512), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            loss.block_until_ready()
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
