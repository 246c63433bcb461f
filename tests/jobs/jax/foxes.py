# SPDX-License-Identifier: Apache-2.0
"""Foxes: jax.debug.callback inside of the jitted step hands the gradients to a function of the job's, which writes their
quantiles. Python tracer on.

Truth: host-bound: write_quantiles, called from inside of the step each time.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 4, 10
ROWS = []


def write_quantiles(gradients):
    for g in gradients:
        ROWS.append(np.quantile(np.sort(np.asarray(g).ravel()), np.linspace(0, 1, 32)).tolist())


def loss_of(params, x):
    for w in params:
        x = jnp.tanh(x @ w)
    return jnp.mean(jnp.square(x))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    jax.debug.callback(write_quantiles, gradients, ordered=True)
    return [p - 1e-2 * g for p, g in zip(params, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal((320, 320), dtype=np.float32) / 16) for _ in range(3)]
    x = jnp.asarray(rng.standard_normal((32, 320), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=1)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            float(loss)
            jax.effects_barrier()
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
