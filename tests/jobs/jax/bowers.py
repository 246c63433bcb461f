# SPDX-License-Identifier: Apache-2.0
"""Bowers: batches are put to the device, and the step awaited; a large model. Python tracer on.

Truth: compute-bound; healthy.
"""

import jax
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 3, 6, 768


def main():
    rng = np.random.default_rng(0)
    rows, params = rng.standard_normal((4, 512, WIDTH)).astype(np.float32), make_params(WIDTH, 4)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = jax.device_put(rows[step % 4])
            watch.fetched()
            params, loss = update(params, x)
            loss.block_until_ready()
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
