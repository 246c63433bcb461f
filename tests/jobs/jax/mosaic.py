# SPDX-License-Identifier: Apache-2.0
"""Mosaics: a jitted step over data in memory, and a validation over eight batches after every fifth. Python tracer on.

Truth: compute-bound, but every fifth step takes several times as long, in validate.
"""

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import loss_of, make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, EVERY = 5, 20, 5
jitted_loss = jax.jit(loss_of)


def validate(params, held_out):
    return sum([float(jitted_loss(params, x)) for x in held_out])


def main():
    rng = np.random.default_rng(0)
    params = make_params(384, 4)
    x = jnp.asarray(rng.standard_normal((256, 384), dtype=np.float32))
    held_out = [jnp.asarray(rng.standard_normal((768, 384), dtype=np.float32)) for _ in range(8)]
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            float(loss)
            if step % EVERY == EVERY - 1:
                with watch.timed("validate"):
                    validate(params, held_out)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
