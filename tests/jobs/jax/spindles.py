# SPDX-License-Identifier: Apache-2.0
"""Spindles: a pool of four threads asks a store for batches (30 ms each), eight requests ahead of the step, which takes
about 12 ms; concurrent.futures. Python tracer on.

Truth: compute-bound; the pool keeps up. Healthy.
"""

import collections
import concurrent.futures
import time

import jax
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 6, 12


def request(n):
    time.sleep(0.03)  # the store answers
    return np.full((128, 512), 1 / (n + 1), np.float32)


def main():
    params = make_params(512, 4)
    pool, pending = concurrent.futures.ThreadPoolExecutor(4), collections.deque()
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            while len(pending) < 8:
                pending.append(pool.submit(request, step + len(pending)))
            x = pending.popleft().result()
            watch.fetched()
            params, loss = update(params, x)
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
