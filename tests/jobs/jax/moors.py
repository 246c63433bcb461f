# SPDX-License-Identifier: Apache-2.0
"""Moors: batches are made by numpy in the loop; neither step marks nor the Python tracer.

Truth: more than half of the time is spent in cut_peat, of which the profile holds nothing. python_tracer_level=1 would show it.
"""

import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 3, 14


def cut_peat(rng):
    peat = rng.standard_normal((192, 3000))
    return np.sort(peat, axis=1)[:, ::16][:, :184].astype(np.float32)


def main():
    rng = np.random.default_rng(0)
    params = make_params(184, 3)
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for _ in watch.steps():
        peat = cut_peat(rng)
        watch.fetched()
        params, loss = update(params, jnp.asarray(peat))
        loss.block_until_ready()
    watch.save("jax", "jaxlib", "numpy")


if __name__ == "__main__":
    main()
