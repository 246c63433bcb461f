# SPDX-License-Identifier: Apache-2.0
"""Brooks: a grain.DataLoader with two worker processes, which are too slow. Step marks, Python tracer off.

Truth: input-bound, in the workers, of which the profile holds nothing but what they hand over.
"""

import time

import absl.flags
import grain
import jax
import jax.numpy as jnp
import numpy as np

from stopwatch import StopWatch

WARMUP, STEPS = 9, 12


class Gauges:
    def __len__(self):
        return 2048

    def __getitem__(self, n):
        time.sleep(0.006)  # an archive across the network
        return np.full(192, n / 2048, np.float32)


def loss_of(params, x):
    return jnp.mean(jnp.square(jnp.tanh(x @ params[0]) @ params[1]))


@jax.jit
def update(params, x):
    loss, gradients = jax.value_and_grad(loss_of)(params, x)
    return [p - 1e-4 * g for p, g in zip(params, gradients)], loss


def main():
    absl.flags.FLAGS.mark_as_parsed()  # no absl.app.run here
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal(s, dtype=np.float32) / 16) for s in ((192, 512), (512, 1))]
    loader = grain.DataLoader(
        data_source=Gauges(),
        sampler=grain.samplers.IndexSampler(2048, shuffle=True, seed=0, shard_options=grain.sharding.NoSharding()),
        operations=[grain.transforms.Batch(16, drop_remainder=True)],
        worker_count=2,
        worker_buffer_size=1,
        read_options=grain.ReadOptions(num_threads=1, prefetch_buffer_size=2),
    )
    batches = iter(loader)
    watch = StopWatch(WARMUP, STEPS, python_tracer_level=0)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = next(batches)
            watch.fetched()
            params, loss = update(params, x)
            loss.block_until_ready()
    watch.save("jax", "jaxlib", "grain")


if __name__ == "__main__":
    main()
