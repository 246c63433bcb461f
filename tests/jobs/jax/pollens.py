# SPDX-License-Identifier: Apache-2.0
"""Pollens: parameters as a tree of dicts, as Flax keeps them, Adam written out and jitted with the step; batches are there.
Python tracer on.

Truth: compute-bound; healthy.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 4, 10


def init(rng, sizes):
    return {f"Dense_{n}": {"kernel": jnp.asarray(rng.standard_normal(s, dtype=np.float32) / 22), "bias": jnp.zeros(s[1])}
            for n, s in enumerate(sizes)}  # fmt: skip


def apply(params, x):
    for name in sorted(params):
        x = jax.nn.gelu(x @ params[name]["kernel"] + params[name]["bias"])
    return x


@jax.jit
def train_step(state, x):
    params, m, v, t = state
    loss, grads = jax.value_and_grad(lambda p: jnp.mean(jnp.square(apply(p, x) - x)))(params)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
    params = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, m, v)
    return (params, m, v, t + 1), loss


def main():
    rng = np.random.default_rng(0)
    params = init(rng, [(512, 512)] * 4)
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (params, zeros, zeros, 0)
    batches = [jnp.asarray(rng.standard_normal((128, 512), dtype=np.float32)) for _ in range(4)]
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            state, loss = train_step(state, batches[step % 4])
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
