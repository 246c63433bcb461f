# SPDX-License-Identifier: Apache-2.0
"""The tutorial's job in JAX: a small network whose batches come from slow storage (docs/tutorial.md)."""
import time

import jax
import jax.numpy as jnp
import numpy as np

BATCH, READ_S, WORK, STEPS = 8, 0.014, 900, 60


def read_sample(index):
    time.sleep(READ_S)  # stands for a file on the network
    return np.random.default_rng(index).standard_normal((64, WORK), dtype=np.float32)


def read_batch(step):
    first = step * BATCH
    return np.stack([read_sample(i) for i in range(first, first + BATCH)]), np.arange(first, first + BATCH) % 10


def loss_of(weights, x, y):
    hidden = jax.nn.relu(x @ weights[0])
    logits = (hidden @ weights[1]).mean(1)
    return -jax.nn.log_softmax(logits)[jnp.arange(BATCH), y].mean()


@jax.jit
def train_step(weights, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
    return [w - 1e-3 * g for w, g in zip(weights, gradients)], loss


def main():
    rng = np.random.default_rng(0)
    weights = [jnp.asarray(rng.standard_normal(shape, dtype=np.float32) * 0.02) for shape in ((WORK, 2 * WORK), (2 * WORK, 10))]
    for step in range(STEPS):
        x, y = read_batch(step)
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            weights, loss = train_step(weights, x, y)
            loss.block_until_ready()
    print(f"loss {float(loss):.3f}")


if __name__ == "__main__":
    main()
