# SPDX-License-Identifier: Apache-2.0
"""Sleets: the last axis of each batch has another length (the number of stations that reported), so that train_step is compiled
anew each time; a tree of parameters. Python tracer off.

Truth: host-bound by compilation that recurs: pad to few lengths.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 2, 8


@jax.jit
def train_step(params, x, mask):
    def loss_of(params):
        h = jnp.tanh(x @ params["in"]["w"])
        return jnp.sum(jnp.square(h @ params["out"]["w"]).mean(-1) * mask) / mask.sum()

    loss, grads = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), loss


def main():
    rng = np.random.default_rng(0)
    params = {k: {"w": jnp.asarray(rng.standard_normal(s, dtype=np.float32) / 8)} for k, s in (("in", (16, 64)), ("out", (64, 8)))}
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            count = 100 + 3 * step
            x = rng.standard_normal((count, 16), dtype=np.float32)
            watch.fetched()
            params, loss = train_step(params, x, np.ones(count, np.float32))
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
