# SPDX-License-Identifier: Apache-2.0
"""Dunes: the function that is jitted is made within the loop, so that each step recompiles it. Python tracer off.

Truth: host-bound, by compilation in every step.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import loss_of, make_params
from stopwatch import StopWatch

WARMUP, STEPS = 2, 6


def apply_rate(params, x, rate):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - rate * g for p, g in zip(params, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    params = make_params(128, 3)
    x = jnp.asarray(rng.standard_normal((256, 128), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            update = jax.jit(functools.partial(apply_rate, rate=1e-3 / (step + 1)))
            params, loss = update(params, x)
            loss.block_until_ready()
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
