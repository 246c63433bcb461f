# SPDX-License-Identifier: Apache-2.0
"""Ledger: after each step a report of all parameters is written, in plain Python. Python tracer on.

Truth: host-bound, in report_norms, which takes more than half of the step. The step is one jit already.
"""

import json

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS = 3, 16


def report_norms(step, params, out):
    rows = {f"layer{n}": np.asarray(p).round(4).tolist() for n, p in enumerate(params)}
    out.write(json.dumps({"step": step, "values": rows}) + "\n")


def main():
    rng = np.random.default_rng(0)
    params = make_params(160, 3)
    x = jnp.asarray(rng.standard_normal((768, 160), dtype=np.float32))
    with open("norms.jsonl", "w") as out:
        watch = StopWatch(WARMUP, STEPS)
        for step in watch.steps():
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                params, loss = update(params, x)
                float(loss)
                with watch.timed("report_norms"):
                    report_norms(step, params, out)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
