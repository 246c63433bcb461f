# SPDX-License-Identifier: Apache-2.0
"""Petrels: two threads (concurrent.futures) inflate tiles, four ahead of the step, which is shorter than they are. Python tracer
on.

Truth: input-bound, in inflate_tile; the threads do not keep up.
"""

import collections
import concurrent.futures
import zlib

import jax
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 4, 12, 64


def inflate_tile(blob):
    raw = zlib.decompress(blob)
    tile = np.frombuffer(raw, np.uint8).reshape(-1, WIDTH)
    return (tile[:64] / 255).astype(np.float32)


def main():
    rng = np.random.default_rng(0)
    blobs = [zlib.compress(rng.integers(0, 60, (36_000, WIDTH), np.uint8).tobytes(), 1) for _ in range(2)]
    params = make_params(WIDTH, 3)
    pending = collections.deque()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        watch = StopWatch(WARMUP, STEPS)
        for step in watch.steps():
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                while len(pending) < 4:
                    pending.append(pool.submit(inflate_tile, blobs[len(pending) % 2]))
                x = pending.popleft().result()
                watch.fetched()
                params, loss = update(params, x)
                float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
