# SPDX-License-Identifier: Apache-2.0
"""A grain.DataLoader in the training process, with a slow transformation. Truth: input-bound. Fix: two worker
processes."""

import time

from watch import Watch

import absl.flags
import grain
import jax
import jax.numpy as jnp
import numpy as np


class Signals:
    def __len__(self):
        return 16 * 200

    def __getitem__(self, n):
        return np.random.default_rng(n).standard_normal(512).astype(np.float32)


class Clean(grain.transforms.Map):
    def map(self, signal):
        time.sleep(0.001)  # a table across the network
        return np.sort(signal)


def loss_of(params, x):
    for w in params:
        x = jnp.tanh(x @ w)
    return jnp.mean(jnp.square(x))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-2 * g for p, g in zip(params, gradients)], loss


def main():
    absl.flags.FLAGS.mark_as_parsed()  # grain requires this
    watch = Watch(80)
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal((512, 512), dtype=np.float32) / 20) for _ in range(6)]
    loader = grain.DataLoader(
        data_source=Signals(),
        sampler=grain.samplers.IndexSampler(16 * 200, shuffle=True, seed=0, shard_options=grain.sharding.NoSharding()),
        operations=[Clean(), grain.transforms.Batch(16, drop_remainder=True)],
        worker_count=2 if watch.fixed else 0,
        read_options=grain.ReadOptions(num_threads=1, prefetch_buffer_size=2),
    )
    watch.begins()
    for x in watch.input(loader):
        watch.fetched()
        params, loss = update(params, x)
        if watch.ended(float(loss)):
            break
    watch.save()


if __name__ == "__main__":
    main()
