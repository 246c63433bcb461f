# SPDX-License-Identifier: Apache-2.0
"""Almanacs: the data are on the device from the start; before each step plain Python computes a curriculum (which share
of each kind of sample is due, from the history of their losses) and gives the step a short array of weights. Python
tracer on.

Truth: host-bound, in Curriculum.weights: no batch is made there.
"""

import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

KINDS = 24


class Curriculum:
    def __init__(self):
        self.history = {k: [1.0 / (1 + k)] * 1500 for k in range(KINDS)}

    def smoothed(self, kind):
        level = 0.0
        for value in self.history[kind]:
            level = 0.97 * level + 0.03 * value
        return level

    def weights(self, step):
        levels = [self.smoothed(k) * (1 + 0.01 * (step % (k + 1))) for k in range(KINDS)]
        total = sum(levels)
        return [level / total for level in levels]

    def record(self, losses):
        for k, value in enumerate(losses):
            self.history[k] = self.history[k][1:] + [float(value)]


@jax.jit
def train_step(params, x, weights):
    def objective(p):
        h = jnp.tanh(x @ p["a"]) @ p["b"]
        per_kind = jnp.mean((h - x) ** 2, axis=(1, 2))
        return jnp.sum(per_kind * weights), per_kind

    (_, per_kind), grads = jax.value_and_grad(objective, has_aux=True)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), per_kind


def main():
    rng = np.random.default_rng(0)
    x = jax.device_put(rng.random((KINDS, 8, 48), np.float32))
    params = {k: jnp.asarray(rng.normal(0, 0.1, (48, 48)), jnp.float32) for k in "ab"}
    curriculum = Curriculum()
    watch = StopWatch(3, 8)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            weights = curriculum.weights(step)
            params, per_kind = train_step(params, x, jnp.asarray(weights))
            curriculum.record(np.asarray(per_kind))
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
