# SPDX-License-Identifier: Apache-2.0
"""Galleons: the gradient is jitted, the optimizer is not: jax.tree.map updates some sixty leaves one by one, each step. Python
tracer on.

Truth: host-bound, in apply_updates, operations one by one from Python: jit around it is the cure.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 4, 6


def loss_of(params, x):
    for layer in params:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.mean(jnp.square(x))


grad_of = jax.jit(jax.value_and_grad(loss_of))


def apply_updates(params, momentum, grads):
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    return jax.tree.map(lambda p, m: p - 1e-3 * m, params, momentum), momentum


def main():
    rng = np.random.default_rng(0)
    params = [{"w": jnp.asarray(rng.standard_normal((64, 64), dtype=np.float32) / 8), "b": jnp.zeros(64)} for _ in range(24)]
    momentum = jax.tree.map(jnp.zeros_like, params)
    x = jnp.asarray(rng.standard_normal((32, 64), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            loss, grads = grad_of(params, x)
            params, momentum = apply_updates(params, momentum, grads)
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
