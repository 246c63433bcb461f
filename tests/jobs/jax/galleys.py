# SPDX-License-Identifier: Apache-2.0
"""Galleys: two jitted functions a step, an actor's and a critic's, on data in memory. Python tracer on.

Truth: compute-bound; healthy.
"""

import jax
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 4, 8, 256


@jax.jit
def judge(params, x):
    for weights in params:
        x = jax.nn.relu(x @ weights)
    return x / (1 + jax.numpy.abs(x))


def main():
    actor, critic = make_params(WIDTH, 4), make_params(WIDTH, 3)
    x = np.random.default_rng(0).standard_normal((512, WIDTH)).astype(np.float32)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            seen = judge(critic, x)
            actor, loss = update(actor, seen)
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
