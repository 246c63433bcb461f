# SPDX-License-Identifier: Apache-2.0
"""Hollows: behind each step the loop logs, parameter by parameter, norms that it reads back one by one with float(). Python tracer
on.

Truth: host-bound, in log_statistics.
"""

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 4, 6


def log_statistics(params, journal):
    journal.append([(float(jnp.linalg.norm(p)), float(p.mean()), float(p.std()), float(jnp.abs(p).max())) for p in params])


def main():
    rng = np.random.default_rng(0)
    params, journal = make_params(128, 6), []
    x = jnp.asarray(rng.standard_normal((32, 128), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            float(loss)
            log_statistics(params, journal)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
