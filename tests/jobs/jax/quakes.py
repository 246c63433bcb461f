# SPDX-License-Identifier: Apache-2.0
"""Quakes: a step that was never jitted: some hundred small operations of jax.numpy, one by one. Python tracer off.

Truth: host-bound: the operations are short. jitted is the same step under jax.jit, after the profile.
"""

import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 4, 6


def update(params, momenta, x):
    deltas, acts = [], [x]
    for weights in params:
        acts.append(jnp.tanh(acts[-1] @ weights))
    error = 2 * acts[-1] / acts[-1].size
    for weights, before, after in zip(params[::-1], acts[-2::-1], acts[:0:-1]):
        error = error * (1 - after * after)
        deltas.append(before.T @ error)
        error = error @ weights.T
    momenta = [0.9 * m + d for m, d in zip(momenta, deltas[::-1])]
    return [p - 1e-2 * m for p, m in zip(params, momenta)], momenta


def main():
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal((16, 16), dtype=np.float32) / 4) for _ in range(12)]
    momenta = [jnp.zeros_like(p) for p in params]
    x = jnp.asarray(rng.standard_normal((16, 16), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, momenta = update(params, momenta, x)
            jax.block_until_ready(params)
    jitted, each = jax.jit(update), []
    for _ in range(40):
        start = time.perf_counter()
        params, momenta = jitted(params, momenta, x)
        jax.block_until_ready(params)
        each.append(time.perf_counter() - start)
    watch.seconds["jitted_median"] = [statistics.median(each)]
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
