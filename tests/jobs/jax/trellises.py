# SPDX-License-Identifier: Apache-2.0
"""Trellises: a Grain pipeline: source, map, filter, random_map of the job's own (augment_leaf), batch; read by Grain's threads.
Python tracer on.

Truth: input-bound, in augment_leaf.
"""

import grain
import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 3, 6


def load_leaf(n):
    return np.random.default_rng(n % 50).standard_normal((64, 64), dtype=np.float32)


def augment_leaf(leaf, rng):
    leaf = np.rot90(leaf, rng.integers(4))
    for _ in range(6):
        leaf = np.sort(leaf + rng.normal(0, 0.1, leaf.shape), rng.integers(2))
    return leaf[::4, ::4].ravel().astype(np.float32)


def main():
    params = make_params(256, 2)
    data = grain.MapDataset.range(4096).shuffle(seed=1).map(load_leaf).seed(3).random_map(augment_leaf)
    batches = iter(data.batch(16).to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=2)))
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
