# SPDX-License-Identifier: Apache-2.0
"""The switches of switches_torch.py that apply to JAX: input, reading values back, lower precision. JAX already
compiles and fuses what it launches, and controls its own copies: there are no switches for G2, G3 and G5."""

import jax
import jax.numpy as jnp
import numpy as np


def train(batches, width, depth, dtype=jnp.float32, reads=False):
    weights = [jnp.asarray(np.random.default_rng(k).standard_normal((width, width), np.float32) / width) for k in range(depth)]

    @jax.jit
    def update(weights, x):
        def loss_of(weights):
            y = x.astype(dtype)
            for w in weights:
                y = jax.nn.relu(y @ w.astype(dtype))
            return jnp.mean(jnp.square(y.astype(jnp.float32)))

        loss, gradients = jax.value_and_grad(loss_of)(weights)
        return [w - 1e-4 * g for w, g in zip(weights, gradients)], loss

    for step, x in enumerate(batches):
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            weights, loss = update(weights, x)
            if reads:
                float(loss)
        settle.last = loss
        yield


def made(shape, passes):
    batch = np.random.default_rng(0).standard_normal(shape, np.float32)
    while True:
        wide = batch
        for _ in range(passes):
            wide = np.tanh(wide)
        yield wide


def constant(shape):
    batch = jnp.asarray(np.random.default_rng(0).standard_normal(shape, np.float32))
    while True:
        yield batch


def input_stall(device, fault):
    shape = (256, 1024)
    return train(made(shape, 10) if fault else constant(shape), 1024, 4)


def full_precision(device, fault):
    return train(constant((4096, 2048)), 2048, 6, dtype=jnp.float32 if fault else jnp.bfloat16)


def hidden_sync(device, fault):
    return train(constant((512, 512)), 512, 8, reads=fault)


SWITCHES = {"G1": ("input-free", input_stall), "G4": ("precision=bf16", full_precision), "G6": ("no-sync", hidden_sync)}


def devices():
    """The GPU to measure on, and its name; or None."""
    gpus = [d for d in jax.devices() if d.platform == "gpu"]
    return ("gpu", gpus[0].device_kind) if gpus else None


def settle(device):
    if settle.last is not None:
        settle.last.block_until_ready()


settle.last = None


def record(arm, steps, folder):
    for _ in range(4):
        next(arm)
    settle(None)
    with jax.profiler.trace(str(folder)):
        for _ in range(steps):
            next(arm)
        settle(None)
    return str(next(folder.rglob("*.xplane.pb")))


def version():
    return f"jax {jax.__version__}"
