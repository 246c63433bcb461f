# SPDX-License-Identifier: Apache-2.0
"""Quarrels: behind each step the answers of the model are fetched and ranked in plain Python, for a metric. Python tracer on.

Truth: host-bound, in rank_answers.
"""

import jax
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 4, 8, 128


@jax.jit
def predict(params, x):
    for weights in params:
        x = jax.numpy.tanh(x @ weights)
    return x


def rank_answers(scores, wanted):
    total = 0.0
    for row, right in zip(scores.tolist(), wanted):
        order = sorted(range(len(row)), key=row.__getitem__, reverse=True)
        total += 1 / (order.index(right) + 1)
    return total / len(wanted)


def main():
    rng = np.random.default_rng(0)
    params = make_params(WIDTH, 3)
    x, wanted = rng.standard_normal((128, WIDTH)).astype(np.float32), [n % WIDTH for n in range(128)]
    ranks = []
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            params, loss = update(params, x)
            ranks.append((float(loss), rank_answers(np.asarray(predict(params, x)), wanted)))
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
