# SPDX-License-Identifier: Apache-2.0
"""Fishery: a forecast horizon that grows with each step is a static argument of the jitted function. Python tracer off.

Truth: host-bound by compilation that recurs in every step. The cure is to pass the horizon as an array.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 2, 8


def loss_of(params, x, horizon):
    for weights in params:
        x = jnp.tanh(x @ weights)
    return jnp.mean(jnp.square(x)) / horizon


@functools.partial(jax.jit, static_argnames="horizon")
def update(params, x, horizon):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, horizon)
    return [p - 1e-3 * g for p, g in zip(params, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal((64, 64), dtype=np.float32) / 8) for _ in range(6)]
    x = jnp.asarray(rng.standard_normal((64, 64), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x, step + 1)
            loss.block_until_ready()
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
