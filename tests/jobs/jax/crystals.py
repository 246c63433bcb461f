# SPDX-License-Identifier: Apache-2.0
"""Crystals: pmap over two devices of the CPU, gradients averaged between them; data in memory. Python tracer off.

Truth: compute-bound, nothing is wrong.
"""

import functools
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 3, 14


def loss_of(params, x):
    for weights in params:
        x = jnp.tanh(x @ weights)
    return jnp.mean(jnp.square(x))


@functools.partial(jax.pmap, axis_name="devices")
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    gradients = jax.lax.pmean(gradients, "devices")
    return [p - 1e-3 * g for p, g in zip(params, gradients)], jax.lax.pmean(loss, "devices")


def main():
    rng = np.random.default_rng(0)
    params = [np.tile(rng.standard_normal((1, 256, 256), dtype=np.float32) / 16, (2, 1, 1)) for _ in range(4)]
    x = rng.standard_normal((2, 2048, 256), dtype=np.float32)
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            loss.block_until_ready()
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
