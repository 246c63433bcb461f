# SPDX-License-Identifier: Apache-2.0
"""A job of JAX on the CPU, with the names that the rules' snippets take for granted."""

import functools
import multiprocessing
import os
import queue
import threading

import absl.flags
import jax
import jax.numpy as jnp
import jobs
import numpy as np

try:
    import grain
except ImportError:
    grain = None
    jobs.ELSEWHERE += ("grain",)
try:
    import optax
    from flax import nnx
except ImportError:
    nnx = None
    jobs.ELSEWHERE += ("nnx",)


def read(n):  # by the processes that a snippet spawns
    return np.full((4, 8), n, np.float32)


def of_flax():
    """A model of Flax' nnx, its optimizer, and a step of both."""

    @nnx.jit
    def train_step(model, optimizer, batch):
        loss, grads = nnx.value_and_grad(lambda model: jnp.mean(model(batch)))(model)
        optimizer.update(model, grads)
        return loss

    model = nnx.Linear(8, 1, rngs=nnx.Rngs(0))
    return {"nnx": nnx, "model": model, "optimizer": nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param), "train_step": train_step}


def world(code):
    def train_step(state, batch):
        return state + jnp.mean(batch), jnp.mean(batch)

    def step_alone(state, batch):
        return state + jnp.mean(batch)

    x = jnp.ones((2, 8, 8, 3)) if "conv_general" in code else jnp.ones((2, 100, 4)) if "np.pad(" in code else jnp.ones(4)
    few = [np.full((4, 8), i, np.float32) for i in range(6)]
    flax = of_flax() if nnx and "nnx" in code else {}
    return {
        "jax": jax, "jnp": jnp, "os": os, "multiprocessing": multiprocessing, "read": read, "queue": queue, "threading": threading, "functools": functools,
        "grain": grain, "absl": absl, "state": jnp.zeros(()), "batch": few[0], "batches": iter([np.ones((4, 8), np.float32)] * 40), "few": few, "steps": 3,
        "step": 1000, "prepare": lambda x: x * 2, "train_step": step_alone, "scan_step": train_step, "x": x, "w": jnp.ones((3, 3, 3, 4)), "np": np, "parts": [jnp.ones(8)] * 3, "layer": lambda x: x * 2, "batch_size": 4,
        "metrics_of_previous_step": {"loss": jnp.ones(())}, "write": lambda state, path: np.save(path, state),
        "ds": grain.MapDataset.range(64) if grain else None, "source": range(64), "operations": [grain.transforms.Batch(4)] if grain else [],
        "sampler": grain.samplers.IndexSampler(64, seed=0, shard_options=grain.sharding.NoSharding()) if grain else None,
        "numpy": np, "rows": [[1.0, 2.0], [3.0, 4.0]],
    } | flax


def use(names, made):
    if "options" in made:
        jax.profiler.stop_trace()
    if "prepare" in made:
        names["prepare"](names["x"])
    if "ahead" in made:
        got = [float(b[0, 0]) for b in names["ahead"](names["few"])]
        if got != [0, 1, 2, 3, 4, 5]:
            raise ValueError(f"the thread gave {got}")
    if "train" in made:
        names["train_step"] = names["scan_step"]
        names["train"](names["state"], jnp.ones((3, 8)))
    for data in made.keys() & {"ds", "loader"}:
        next(iter(names[data]))
    if "train_step" in made:
        names["train_step"](jnp.zeros(()), names["batch"])
    if "save_later" in made:
        for t in threading.enumerate():
            if t is not threading.current_thread() and not t.daemon:
                t.join()
        np.load("checkpoint.npy")


if __name__ == "__main__":
    roots = {"jax": jax, "jnp": jnp}
    jobs.main(world, roots | ({"grain": grain} if grain else {}), use)
