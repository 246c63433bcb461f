# SPDX-License-Identifier: Apache-2.0
"""Reels: every fourth step is followed by an evaluation over held-out batches, in run_eval. Python tracer on.

Truth: compute-bound by its kinds of work; every fourth step is long, by run_eval.
"""

import jax
import numpy as np

from perceptron import loss_of, make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 4, 16, 256
evaluate = jax.jit(loss_of)


def run_eval(params, held_out):
    return sum(float(evaluate(params, x)) for x in held_out) / len(held_out)


def main():
    rng = np.random.default_rng(0)
    x, held_out = rng.standard_normal((128, WIDTH)).astype(np.float32), rng.standard_normal((16, 256, WIDTH))
    held_out, params = list(held_out.astype(np.float32)), make_params(WIDTH, 3)
    run_eval(params, held_out)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            float(loss)
            if step % 4 == 3:
                run_eval(params, held_out)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
