# SPDX-License-Identifier: Apache-2.0
"""Anvils: a jitted step over data in memory, profiled without step marks and without the Python tracer.

Truth: compute-bound, nothing is wrong; the steps are the repeating call of update.
"""

import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 3, 14


def main():
    rng = np.random.default_rng(0)
    params = make_params(320, 5)
    x = jnp.asarray(rng.standard_normal((512, 320), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for _ in watch.steps():
        params, loss = update(params, x)
        loss.block_until_ready()
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
