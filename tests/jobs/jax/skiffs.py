# SPDX-License-Identifier: Apache-2.0
"""Skiffs: two devices of the host (xla_force_host_platform_device_count), the batch sharded between them by a NamedSharding, one
jit; XLA sums the gradients. Python tracer on.

Truth: compute-bound, or the sum of gradients; healthy, and nothing waits for input.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 4, 8, 384


def main():
    mesh = Mesh(np.array(jax.devices()), ("batch",))
    split, whole = NamedSharding(mesh, PartitionSpec("batch")), NamedSharding(mesh, PartitionSpec())
    params = [jax.device_put(p, whole) for p in make_params(WIDTH, 4)]
    data = np.random.default_rng(0).standard_normal((512, WIDTH)).astype(np.float32)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = jax.device_put(data, split)
            watch.fetched()
            params, loss = update(params, x)
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
