# SPDX-License-Identifier: Apache-2.0
"""Groves: a recurrent network under lax.scan; the loss is looked at after every fifth step only, so that steps are
launched ahead of the work. Step marks, Python tracer off.

Truth: compute-bound, nothing is wrong.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS, EVERY = 5, 15, 5


def loss_of(params, rings):
    def grow(state, ring):
        state = jnp.tanh(state @ params[0] + ring @ params[1])
        return state, None

    state, _ = jax.lax.scan(grow, jnp.zeros((rings.shape[1], 192)), rings)
    return jnp.mean(jnp.square(state))


@jax.jit
def update(params, rings):
    loss, gradients = jax.value_and_grad(loss_of)(params, rings)
    return [p - 1e-3 * g for p, g in zip(params, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal(s, dtype=np.float32) / 16) for s in ((192, 192), (64, 192))]
    rings = jnp.asarray(rng.standard_normal((8, 256, 64), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, rings)
            if step % EVERY == EVERY - 1:
                print(float(loss))
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
