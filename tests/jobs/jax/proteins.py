# SPDX-License-Identifier: Apache-2.0
"""Proteins: chains are padded to the longest of their batch, so that the jitted step gets a new shape nearly always.

Truth: host-bound by compilation that recurs. The cure is padding to few lengths. The Python tracer is off: within
tracing and compiling it would record some hundred thousand calls of JAX's own.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 2, 12


def chains(rng):
    """Batches of 8 chains; the longest sets the length."""
    while True:
        longest = int(rng.integers(40, 140))
        yield rng.standard_normal((8, longest, 64), dtype=np.float32)


def loss_of(params, x):
    for weights in params:
        x = x + jnp.tanh(x @ weights)
    return jnp.mean(jnp.square(x))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-3 * g for p, g in zip(params, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal((64, 64), dtype=np.float32) / 8) for _ in range(6)]
    batches = chains(rng)
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = next(batches)
            watch.fetched()
            params, loss = update(params, x)
            loss.block_until_ready()
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
