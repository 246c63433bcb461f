# SPDX-License-Identifier: Apache-2.0
"""Vineyards: a grain.DataLoader in the process itself, with a source and a transformation as classes. Python tracer on.

Truth: input-bound, in RankPixels.map.
"""

import time

import grain
import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 3, 8


class Vineyards:
    def __init__(self):
        self.images = np.random.default_rng(0).standard_normal((64, 4096), dtype=np.float32)

    def __len__(self):
        return 1024

    def __getitem__(self, n):
        return self.images[n % 64]


class RankPixels(grain.transforms.Map):
    def map(self, image):
        time.sleep(0.001)  # a table across the network
        return np.argsort(image)[::16].astype(np.float32)


def loss_of(params, x):
    return jnp.mean(jnp.square(jnp.tanh(x @ params[0]) @ params[1]))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-6 * g for p, g in zip(params, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal(s, dtype=np.float32) / 16) for s in ((256, 256), (256, 1))]
    loader = grain.DataLoader(
        data_source=Vineyards(),
        sampler=grain.samplers.IndexSampler(1024, shuffle=True, seed=0, shard_options=grain.sharding.NoSharding()),
        operations=[RankPixels(), grain.transforms.Batch(8, drop_remainder=True)],
        worker_count=0,
        read_options=grain.ReadOptions(num_threads=1, prefetch_buffer_size=2),
    )
    batches = iter(loader)
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
