# SPDX-License-Identifier: Apache-2.0
"""Tarns: parameters are written with np.savez_compressed behind every third step. Python tracer on.

Truth: host-bound: write_checkpoint, every third step: more rarely, or on a thread.
"""

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 3, 12


def write_checkpoint(params, step):
    np.savez_compressed(f"tarn-{step}.npz", **{f"layer{n}": np.asarray(p) for n, p in enumerate(params)})


def main():
    rng = np.random.default_rng(0)
    params = make_params(256, 2)
    x = jnp.asarray(rng.standard_normal((256, 256), dtype=np.float32))
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            float(loss)
            if step % 3 == 0:
                write_checkpoint(params, step)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
