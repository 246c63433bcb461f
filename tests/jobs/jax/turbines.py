# SPDX-License-Identifier: Apache-2.0
"""Turbines: a jitted step over data that lie in memory; Python tracer on.

Truth: compute-bound, nothing is wrong.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 4, 20


def loss_of(params, x, y):
    for weights in params[:-1]:
        x = jax.nn.gelu(x @ weights)
    return jnp.mean(jnp.square(x @ params[-1] - y))


@jax.jit
def update(params, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    return [p - 1e-3 * g for p, g in zip(params, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    sizes = (256, 768, 768, 1)
    params = [jnp.asarray(rng.standard_normal(s, dtype=np.float32) / 32) for s in zip(sizes, sizes[1:])]
    x, y = (jnp.asarray(rng.standard_normal((2048, n), dtype=np.float32)) for n in (256, 1))
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            at = step % 8 * 256
            batch, wanted = x[at : at + 256], y[at : at + 256]
            watch.fetched()
            params, loss = update(params, batch, wanted)
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
