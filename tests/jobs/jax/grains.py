# SPDX-License-Identifier: Apache-2.0
"""Crops: a Grain MapDataset whose map, trim_field, is slow; read by threads of Grain's own. Python tracer on.

Truth: input-bound, in trim_field. The Python tracer itself stretches it.
"""

import time

import grain
import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 3, 5


def trim_field(n):
    field = np.random.default_rng(n).standard_normal(20000)
    field.sort()
    time.sleep(0.002)  # the archive
    return field[::80].astype(np.float32)


def loss_of(params, x):
    return jnp.mean(jnp.square(jax.nn.relu(x @ params[0]) @ params[1]))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-4 * g for p, g in zip(params, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal(s, dtype=np.float32) / 16) for s in ((250, 512), (512, 1))]
    data = grain.MapDataset.range(2048).shuffle(seed=1).map(trim_field)
    batches = iter(data.to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=2)).batch(16))
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = next(batches)
            watch.fetched()
            params, loss = update(params, x)
            float(loss)
    watch.save("jax", "jaxlib", "grain")


if __name__ == "__main__":
    main()
