# SPDX-License-Identifier: Apache-2.0
"""The model of those jobs whose model does not matter: square layers, and a step of gradient descent under jit."""

import jax
import jax.numpy as jnp
import numpy as np


def make_params(width, depth):
    rng = np.random.default_rng(0)
    return [jnp.asarray(rng.standard_normal((width, width), dtype=np.float32) / 16) for _ in range(depth)]


def loss_of(params, x):
    for weights in params:
        x = jnp.tanh(x @ weights)
    return jnp.mean(jnp.square(x))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-3 * g for p, g in zip(params, gradients)], loss
