# SPDX-License-Identifier: Apache-2.0
"""Inlets: a train state (a NamedTuple, as Flax's), and a loop that makes its batch in its own body with NumPy (windows of a long
series, normalized, differenced, stacked), and gives the arrays straight to the jitted step. Python tracer on.

Truth: input-bound (or host-bound): the loop's own NumPy code, inlets.py, takes most of the step.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from stopwatch import StopWatch


class TrainState(NamedTuple):
    params: dict
    opt_state: tuple
    step: int


tx = optax.adam(1e-3)


def apply_fn(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


@jax.jit
def train_step(state, x, y):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((apply_fn(p, x) - y) ** 2))(state.params)
    updates, opt_state = tx.update(grads, state.opt_state)
    return TrainState(optax.apply_updates(state.params, updates), opt_state, state.step + 1), loss


def main():
    rng = np.random.default_rng(0)
    series = np.cumsum(rng.standard_normal(200_000)).astype(np.float32)
    params = {"w": jnp.asarray(rng.normal(0, 0.1, (256, 64)), jnp.float32), "v": jnp.zeros((64, 1))}
    state = TrainState(params, tx.init(params), 0)
    watch = StopWatch(3, 10)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            starts = rng.integers(0, len(series) - 16400, 4)
            xs, ys = [], []
            for s in starts:
                window = series[s : s + 16385]
                window = (window - window.mean()) / (window.std() + 1e-6)
                xs.append(np.sort(np.diff(window))[::64])
                ys.append(np.median(window[-16:], keepdims=True))
            x, y = np.stack(xs), np.stack(ys)
            watch.fetched()
            state, loss = train_step(state, x, y)
            loss.block_until_ready()
    watch.save("jax", "jaxlib", "optax")


if __name__ == "__main__":
    main()
