# SPDX-License-Identifier: Apache-2.0
"""Fjords: the job's own generator, fed by a thread through a queue, two batches ahead. Python tracer on.

Truth: input-bound: the loop waits in Queue.get for read_soundings, which runs on the thread.
"""

import queue
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 3, 10


def read_soundings(n):
    time.sleep(0.03)  # a ship's server
    return np.random.default_rng(n).standard_normal((256, 192), dtype=np.float32)


def ahead(count):
    waiting = queue.Queue(2)

    def fill():
        for n in range(count):
            waiting.put(read_soundings(n))

    threading.Thread(target=fill, daemon=True).start()
    while True:
        yield waiting.get()


def main():
    params = make_params(192, 3)
    batches = ahead(WARMUP + STEPS)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = jnp.asarray(next(batches))
            watch.fetched()
            params, loss = update(params, x)
            float(loss)
    watch.save("jax", "jaxlib", "numpy")


if __name__ == "__main__":
    main()
