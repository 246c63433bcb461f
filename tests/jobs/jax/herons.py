# SPDX-License-Identifier: Apache-2.0
"""Herons: two processes of concurrent.futures make the batches, one asked for ahead; they are too slow. Python tracer on.

Truth: input-bound: the loop waits in Future.result for make_batch, which isn't in the profile.
"""

import concurrent.futures
import multiprocessing
import time

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 3, 10


def make_batch(n):
    time.sleep(0.04)  # a catalog across the network
    return np.random.default_rng(n).standard_normal((96, 96), dtype=np.float32)


def main():
    pool = concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))
    asked = [pool.submit(make_batch, n) for n in range(2)]
    params = make_params(96, 2)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            asked.append(pool.submit(make_batch, step + 2))
            x = asked.pop(0).result()
            watch.fetched()
            params, loss = update(params, jnp.asarray(x))
            loss.block_until_ready()
    pool.shutdown(cancel_futures=True)
    watch.save("jax", "jaxlib", "numpy")


if __name__ == "__main__":
    main()
