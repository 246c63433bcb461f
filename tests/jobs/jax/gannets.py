# SPDX-License-Identifier: Apache-2.0
"""Gannets: sentences are cut to the longest of each batch, which is another one in each step; the jitted step is compiled for each.
Python tracer on.

Truth: host-bound: train_step is compiled again in each step, for tokens of another length; pad to few lengths.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 2, 6, 64


@jax.jit
def train_step(table, weights, tokens):
    def loss_of(weights):
        h = table[tokens]
        scores = jax.nn.softmax(h @ jnp.swapaxes(h, 1, 2) / WIDTH**0.5)
        return jnp.mean(jnp.square(jnp.tanh(scores @ h @ weights)))

    loss, gradient = jax.value_and_grad(loss_of)(weights)
    return weights - 1e-3 * gradient, loss


def main():
    rng = np.random.default_rng(0)
    table = jnp.asarray(rng.standard_normal((500, WIDTH), np.float32))
    weights = jnp.asarray(rng.standard_normal((WIDTH, WIDTH), np.float32) / 8)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            tokens = jnp.asarray(rng.integers(0, 500, (16, 17 + step * 3)))
            weights, loss = train_step(table, weights, tokens)
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
