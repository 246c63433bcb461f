# SPDX-License-Identifier: Apache-2.0
"""Ocean: a generator simulates the next field while the step waits; the Python tracer is off, marks are around update.

Truth: three quarters of the step are spent in the generator, of which the profile holds nothing. Neither
"compute-bound" nor a kind of loss can be known; python_tracer_level=1 would show it.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 4, 24


def fields(rng):
    field = rng.standard_normal((128, 128))
    while True:
        for _ in range(80):
            field = 0.5 * field + 0.25 * np.roll(field, 1, 0) + 0.25 * np.sin(np.roll(field, 1, 1))
        yield field.astype(np.float32)


def loss_of(params, x):
    return jnp.mean(jnp.square(jnp.tanh(x @ params[0]) @ params[1] - x))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-2 * g for p, g in zip(params, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal(shape, dtype=np.float32) / 16) for shape in ((128, 256), (256, 128))]
    batches = fields(rng)
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        x = next(batches)
        watch.fetched()
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            loss.block_until_ready()
    watch.save("jax", "jaxlib", "numpy")


if __name__ == "__main__":
    main()
