# SPDX-License-Identifier: Apache-2.0
"""Eddies: the loss calls a function of numpy through jax.pure_callback. Python tracer on.

Truth: most of the step is that function, filter_field, on the host; the model's own operations are the rest.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 3, 10


def filter_field(field):
    smooth = np.asarray(field)
    for _ in range(40):
        smooth = 0.5 * smooth + 0.25 * (np.roll(smooth, 1, 0) + np.roll(smooth, -1, 0))
    return smooth.astype(np.float32)


def loss_of(params, x):
    filtered = jax.pure_callback(filter_field, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    return jnp.mean(jnp.square(jnp.tanh(filtered @ params[0]) @ params[1]))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-3 * g for p, g in zip(params, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal(s, dtype=np.float32) / 16) for s in ((256, 256), (256, 1))]
    x = jnp.asarray(rng.standard_normal((512, 256), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            float(loss)
    watch.save("jax", "jaxlib", "numpy")


if __name__ == "__main__":
    main()
