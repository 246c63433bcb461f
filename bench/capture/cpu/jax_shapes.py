# SPDX-License-Identifier: Apache-2.0
"""Sequences padded to the longest of each batch, so the step is recompiled for each length. Truth: host-bound, by
compilation. Fix: pad to multiples of 64."""

from watch import Watch

import jax
import jax.numpy as jnp
import numpy as np

WIDTH = 32


def batches(pad):
    rng = np.random.default_rng(0)
    while True:
        length = int(rng.integers(64, 192))
        x = rng.standard_normal((8, length, WIDTH), dtype=np.float32)
        mask = np.ones((8, length), np.float32)
        if pad:
            more = -length % 64
            x, mask = np.pad(x, ((0, 0), (0, more), (0, 0))), np.pad(mask, ((0, 0), (0, more)))
        yield x, mask


def loss_of(params, x, mask):
    for w in params:
        weights = jax.nn.softmax(jnp.einsum("blw,bmw->blm", x, x) + jnp.log(mask[:, None, :] + 1e-9))
        x = x + jnp.tanh(jnp.einsum("blm,bmw->blw", weights, x) @ w)
    return jnp.sum(jnp.square(x).mean(-1) * mask) / jnp.sum(mask)


@jax.jit
def update(params, x, mask):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, mask)
    return [p - 1e-2 * g for p, g in zip(params, gradients)], loss


def main():
    watch = Watch(30)
    rng = np.random.default_rng(1)
    params = [jnp.asarray(rng.standard_normal((WIDTH, WIDTH), dtype=np.float32) / 10) for _ in range(3)]
    watch.begins()
    for x, mask in watch.input(batches(watch.fixed)):
        watch.fetched()
        params, loss = update(params, x, mask)
        if watch.ended(float(loss)):
            break
    watch.save()


if __name__ == "__main__":
    main()
