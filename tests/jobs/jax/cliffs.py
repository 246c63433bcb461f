# SPDX-License-Identifier: Apache-2.0
"""Cliffs: after every fourth step the parameters are fetched and written to a compressed file. Python tracer on.

Truth: host-bound, in save_params, which holds more than half of the time; every fourth step is long.
"""

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, EVERY = 4, 16, 4


def save_params(step, params):
    np.savez_compressed(f"params{step}.npz", *[np.asarray(p) for p in params])


def main():
    rng = np.random.default_rng(0)
    params = make_params(256, 4)
    x = jnp.asarray(rng.standard_normal((256, 256), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            float(loss)
            if step % EVERY == EVERY - 1:
                with watch.timed("save_params"):
                    save_params(step, params)
    watch.save("jax", "jaxlib", "numpy")


if __name__ == "__main__":
    main()
