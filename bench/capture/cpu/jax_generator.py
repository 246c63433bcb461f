# SPDX-License-Identifier: Apache-2.0
"""A generator in the training loop that queries an archive. Truth: input-bound. Fix: a thread that makes the batches
ahead of time."""

import queue
import threading
import time

from watch import Watch

import jax
import jax.numpy as jnp
import numpy as np


def read_batches():
    n = 0
    while True:
        time.sleep(0.02)  # the archive
        yield np.random.default_rng(n).standard_normal((64, 512), dtype=np.float32)
        n += 1


def ahead(batches, size=4):
    there = queue.Queue(size)

    def fill():
        for batch in batches:
            there.put(batch)

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield there.get()


def loss_of(params, x):
    for w in params:
        x = jnp.tanh(x @ w)
    return jnp.mean(jnp.square(x))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-2 * g for p, g in zip(params, gradients)], loss


def main():
    watch = Watch(100)
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal((512, 512), dtype=np.float32) / 20) for _ in range(6)]
    batches = ahead(read_batches()) if watch.fixed else read_batches()
    watch.begins()
    for x in watch.input(batches):
        watch.fetched()
        params, loss = update(params, x)
        if watch.ended(float(loss)):
            break
    watch.save()


if __name__ == "__main__":
    main()
