# SPDX-License-Identifier: Apache-2.0
"""Vespers: every fifth step the loop evaluates on held-out batches, by a jitted function. Python tracer on.

Truth: compute-bound; every fifth step is long, by evaluate.
"""

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import loss_of, make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 5, 20
eval_step = jax.jit(loss_of)


def evaluate(params, held_out):
    return sum(float(eval_step(params, x)) for x in held_out) / len(held_out)


def main():
    rng = np.random.default_rng(0)
    params = make_params(512, 3)
    train, held_out = (list(jnp.asarray(rng.standard_normal((n, 128, 512), dtype=np.float32))) for n in (4, 12))
    evaluate(params, held_out)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, train[step % 4])
            float(loss)
            if step % 5 == 4:
                evaluate(params, held_out)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
