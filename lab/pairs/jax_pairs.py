# SPDX-License-Identifier: Apache-2.0
"""Pairs of JAX jobs on the CPU, run by alternate.py."""

import io
import queue
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np

import alternate
from stopwatch import StopWatch

STEPS = 20
SIZES = (256, 512, 512, 1)


@jax.jit
def update(params, x, y):
    def loss_of(params):
        out = x
        for weights in params[:-1]:
            out = jax.nn.gelu(out @ weights)
        return jnp.mean(jnp.square(out @ params[-1] - y))

    loss, gradients = jax.value_and_grad(loss_of)(params)
    return [p - 1e-3 * g for p, g in zip(params, gradients)], loss


def batches(passes=0, wait_s=0.0, constant=False):
    rng = np.random.default_rng(0)
    raw = rng.standard_normal((64, 16384), np.float32)
    while True:
        rows = []
        for sample in raw[:32]:
            for _ in range(passes):
                sample = np.tanh(sample * 1.01)
            rows.append(sample[:256])
        time.sleep(wait_s)
        batch = jnp.asarray(np.stack(rows)), jnp.ones((32, 1))
        yield batch
        while constant:
            yield batch


def ahead(data):
    """Batches from a thread that runs two ahead."""
    there = queue.Queue(2)

    def fill():
        for batch in data:
            there.put(batch)

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield there.get()


def train(data, after=None):
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal(s, dtype=np.float32) / 32) for s in zip(SIZES, SIZES[1:])]
    for step, (x, y) in enumerate(data):
        params, loss = update(params, x, y)
        float(loss)
        if after:
            after(step, params)
        yield


def inline(changed):
    """Batches are made in the loop; changed: one constant batch."""
    return train(batches(passes=4, constant=changed))


def stored(changed):
    """The loop waits for a store for each batch; changed: a thread runs two batches ahead."""
    return train(ahead(batches(wait_s=0.03)) if changed else batches(wait_s=0.03))


def norms(changed):
    """Quantiles of all weights after each step; changed: after every tenth."""

    def report(step, params):
        if not changed or step % 10 == 0:
            for p in params:
                np.quantile(np.abs(np.asarray(p).ravel()[::2]), [0.1, 0.5, 0.9])

    return train(batches(passes=1), after=report)


def lighter(changed):
    """Batches are made in the loop; changed: half of the work."""
    return train(batches(passes=4 if changed else 8))


def fetched(changed):
    """The loop waits long for a store, then processes the batch; changed: a thread runs two batches ahead."""
    data = batches(passes=1, wait_s=0.004)
    return train(ahead(data) if changed else data)


def dumped(changed):
    """Packs all weights into an archive after each step; changed: after every tenth."""

    def dump(step, params):
        if not changed or step % 10 == 0:
            np.savez_compressed(io.BytesIO(), *(np.asarray(p)[:128] for p in params))

    return train(batches(passes=1), after=dump)


def threaded(changed):
    """A thread makes the batches, but too slowly; changed: one constant batch."""
    return train(batches(constant=True) if changed else ahead(batches(passes=10)))


def record(arm):
    watch = StopWatch(0, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            next(arm)


SEEN = (inline, stored, norms)
HELD = (lighter, fetched, dumped, threaded)
PAIRS = {f.__name__: f for f in (*SEEN, *HELD)}

if __name__ == "__main__":
    alternate.main(PAIRS, record, "jax", "jaxlib")
