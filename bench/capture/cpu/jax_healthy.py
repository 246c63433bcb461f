# SPDX-License-Identifier: Apache-2.0
"""A jitted step on batches in memory. Truth: compute-bound, nothing to gain. It has no fix."""

from watch import Watch

import jax
import jax.numpy as jnp
import numpy as np


def loss_of(params, x):
    for w in params:
        x = jax.nn.relu(x @ w)
    return jnp.mean(jnp.square(x))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-2 * g for p, g in zip(params, gradients)], loss


def main():
    watch = Watch(80)
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal((768, 768), dtype=np.float32) / 25) for _ in range(6)]
    stored = [rng.standard_normal((128, 768), dtype=np.float32) for _ in range(16)]
    watch.begins()
    for x in watch.input(stored * 20):
        watch.fetched()
        params, loss = update(params, x)
        if watch.ended(float(loss)):
            break
    watch.save()


if __name__ == "__main__":
    main()
