# SPDX-License-Identifier: Apache-2.0
"""Lenses: a thread of the job's own reads ahead into a queue, and keeps up. Python tracer on.

Truth: compute-bound, nothing is wrong.
"""

import queue
import threading
import time

import jax
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 4, 16


def read_lenses(batches):
    rng = np.random.default_rng(0)
    while True:
        time.sleep(0.004)
        batches.put(rng.standard_normal((256, 512), dtype=np.float32))


def main():
    params = make_params(512, 6)
    batches = queue.Queue(maxsize=8)
    threading.Thread(target=read_lenses, args=(batches,), daemon=True).start()
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = batches.get()
            watch.fetched()
            params, loss = update(params, x)
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
