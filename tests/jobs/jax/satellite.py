# SPDX-License-Identifier: Apache-2.0
"""Satellite tiles: a loop of plain functions reads its batch from compressed files of numpy. Python tracer on.

Truth: input-bound, in read_tiles (np.load, which decompresses). No generator, no loader of any framework.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 3, 16


def write_tiles(count):
    rng = np.random.default_rng(0)
    for n in range(count):
        np.savez_compressed(f"tiles{n}.npz", tiles=rng.integers(0, 50, (160, 64, 64), dtype=np.uint8))


def read_tiles(step):
    with np.load(f"tiles{step % 8}.npz") as stored:
        tiles = stored["tiles"].astype(np.float32)
    return np.sort(tiles.reshape(160, -1), axis=1)[:, ::8]


def loss_of(params, x):
    return jnp.mean(jnp.square(jax.nn.relu(x @ params[0]) @ params[1]))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-6 * g for p, g in zip(params, gradients)], loss


def main():
    write_tiles(8)
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal((512, 256), dtype=np.float32) / 32), jnp.ones((256, 1)) / 256]
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = read_tiles(step)
            watch.fetched()
            params, loss = update(params, x)
            float(loss)
    watch.save("jax", "jaxlib", "numpy")


if __name__ == "__main__":
    main()
