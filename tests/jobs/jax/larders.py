# SPDX-License-Identifier: Apache-2.0
"""Larders: layers under lax.scan with jax.checkpoint, optax's adamw, batches by device_put from an array in memory. Python tracer
on.

Truth: compute-bound; healthy.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 4, 10, 256


def loss_of(params, x):
    layer = jax.checkpoint(lambda h, w: (jnp.tanh(h @ w), None))
    h, _ = jax.lax.scan(layer, x, params)
    return jnp.mean(jnp.square(h - x))


def main():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((2048, WIDTH), np.float32)
    params = jnp.asarray(rng.standard_normal((6, WIDTH, WIDTH), np.float32) / 16)
    optimizer = optax.adamw(1e-3)
    state = optimizer.init(params)

    @jax.jit
    def train_step(params, state, x):
        loss, gradients = jax.value_and_grad(loss_of)(params, x)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = jax.device_put(data[step * 128 : step * 128 + 128])
            watch.fetched()
            params, state, loss = train_step(params, state, x)
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
