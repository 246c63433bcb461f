# SPDX-License-Identifier: Apache-2.0
"""Records a JAX training loop on the CPU that waits for a Python generator; or the same job with the fix.

Job: a three-layer perceptron on batches of 128; each batch is 12 compressed shards of one file each, read from a
store LATENCY_S away (a sleep stands for the network) and decompressed.
  default   the generator reads one shard after the other when the loop asks for a batch
  --fixed   8 reader threads work PREFETCH batches ahead; the loop takes what is ready
  --no-python-tracer either of them without the Python tracer: nothing is recorded while the generator runs, so the
            profile can't distinguish a wait for input from other CPU work, and an analysis should say exactly that

Method: jax.profiler.trace around STEPS steps after WARMUP; each step, the fetch of its batch included, is inside a
StepTraceAnnotation. The script times each next() and each step. Every step reads its loss, so computing never
overlaps with the next fetch.
Limits: CPU only. The Python tracer is on by default, as in JAX, and adds some time to every Python call.
"""

import argparse
import collections
import concurrent.futures
import functools
import glob
import os
import time
import zlib

import jax
import jax.numpy as jnp
import numpy as np

import truth

BATCH, WIDTH, SHARDS = 128, 1024, 12
LATENCY_S = 0.006
WARMUP, STEPS, PREFETCH = 5, 25, 3


def make_store():
    """One compressed shard per entry: (BATCH // SHARDS + 1, WIDTH) float32 with few distinct values."""
    rng = np.random.default_rng(0)
    rows = BATCH // SHARDS + 1
    return [zlib.compress(rng.integers(0, 4, (rows, WIDTH)).astype("float32"), 1) for _ in range(SHARDS)]


def read_shard(shard):
    """Fetch and decompress one shard."""
    time.sleep(LATENCY_S)
    return np.frombuffer(zlib.decompress(shard), dtype="float32").reshape(-1, WIDTH)


def join(parts):
    """Rows of the shards as one batch with labels."""
    rows = np.concatenate(parts)[:BATCH]
    return rows, (rows.sum(axis=1) % 10).astype("int32")


def slow_batches(store):
    """Batches, made on request, one shard after the other."""
    while True:
        yield join([read_shard(shard) for shard in store])


def prefetched_batches(store):
    """The same batches, read by threads, PREFETCH batches ahead."""
    with concurrent.futures.ThreadPoolExecutor(8) as readers:
        ahead = collections.deque()
        while True:
            while len(ahead) < PREFETCH:
                ahead.append([readers.submit(read_shard, shard) for shard in store])
            yield join([part.result() for part in ahead.popleft()])


def init_params(key):
    """Weights of three layers."""
    sizes = (WIDTH, 2048, 2048, 10)
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (m, n)) * (2 / m) ** 0.5, jnp.zeros(n)) for k, m, n in zip(keys, sizes, sizes[1:])
    ]


def loss_of(params, rows, labels):
    """Mean cross entropy of the perceptron."""
    x = rows
    for weights, bias in params[:-1]:
        x = jax.nn.relu(x @ weights + bias)
    logits = x @ params[-1][0] + params[-1][1]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


@functools.partial(jax.jit, donate_argnums=0)
def train_step(params, rows, labels):
    """One step of plain gradient descent; returns new parameters and the loss."""
    loss, grads = jax.value_and_grad(loss_of)(params, rows, labels)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), loss


def run(params, batches, first, count):
    """Train `count` steps; returns parameters, seconds of each step and seconds of each spent in next()."""
    step_s, wait_s = [], []
    for step in range(first, first + count):
        start = time.perf_counter()
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            rows, labels = next(batches)
            waited = time.perf_counter() - start
            params, loss = train_step(params, rows, labels)
            float(loss)
        step_s.append(time.perf_counter() - start)
        wait_s.append(waited)
    return params, step_s, wait_s


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fixed", action="store_true", help="record the repaired input")
    parser.add_argument("--out", default="profiles", help="folder for the profile and its truth file")
    parser.add_argument("--no-python-tracer", action="store_true", help="leave Python calls out of the profile")
    args = parser.parse_args()
    name = "jax_cpu_fixed" if args.fixed else "jax_cpu_input"
    options = jax.profiler.ProfileOptions()
    if args.no_python_tracer:
        name += "_nopython"
        options.python_tracer_level = 0
    store = make_store()
    batches = prefetched_batches(store) if args.fixed else slow_batches(store)
    params, _, _ = run(init_params(jax.random.key(0)), batches, 0, WARMUP)
    with jax.profiler.trace(f"log_{name}", profiler_options=options):
        _, step_s, wait_s = run(params, batches, WARMUP, STEPS)
    batches.close()
    newest = max(glob.glob(f"log_{name}/plugins/profile/*/*.xplane.pb"), key=os.path.getmtime)
    stored = truth.store_profile(newest, os.path.join(args.out, f"{name}.xplane.pb"))
    truth.write_truth(
        stored,
        job=f"JAX perceptron on the CPU, batch {BATCH}, {'8 reader threads' if args.fixed else 'Python generator'}",
        expected="cannot-tell" if args.no_python_tracer else "compute-bound" if args.fixed else "input-bound",
        step_s=step_s,
        wait_s=wait_s,
        wait_method="time in next(), by the script's clock",
        packages=("jax", "jaxlib", "numpy"),
    )


if __name__ == "__main__":
    main()
