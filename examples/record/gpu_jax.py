# SPDX-License-Identifier: Apache-2.0
"""Records JAX on a GPU in pairs of cases that differ in one respect.

  input    fixed       Python generator that reads shard after shard  | 16 reader threads, batches ahead
  eager    jit         every operation dispatched by itself           | the whole step compiled by jax.jit
  fp32     bf16        large matrix products in float32 (no TF32)     | in bfloat16

Job: a perceptron with a residual in each layer. In input and fixed the batch comes from shards with a read latency
(a sleep), set so that reading a batch shard by shard takes 3 x the step's compute time; the other cases train on one
batch that stays on the device.
Method: jax.profiler.trace around the steps, each in a StepTraceAnnotation that includes the fetch. The compute time is
measured without the profiler, on one batch that stays on the device, before recording; wait = 1 - compute / recorded
step. The time inside next() is stored too. The loop waits for the device only at its end. eager and jit are small and
short, because the Python tracer writes a lot when nothing is compiled.
Limits: the expected verdicts are those on an H200. JAX runs ahead: the script's clock measures launching, and the last
step waits for all others; only the sum of the steps is the device's time.
"""

import argparse
import collections
import concurrent.futures
import functools
import glob
import os
import sys
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import truth

SHARDS, FEATURES, CLASSES = 16, 1024, 10
WARMUP, PREFETCH = 5, 3


class Case(NamedTuple):
    """One recording. source: "slow" or "fixed" input, or "constant" for one batch kept on the device."""

    expected: str
    source: str = "constant"
    jit: bool = True
    dtype: str = "float32"
    batch: int = 4096
    hidden: int = 4096
    layers: int = 6
    steps: int = 10


SMALL = dict(batch=64, hidden=512, layers=4, steps=4)
CASES = {
    "input": Case("input-bound", source="slow"),
    "fixed": Case("compute-bound", source="fixed"),
    "eager": Case("host-bound", jit=False, **SMALL),
    "jit": Case("compute-bound", **SMALL),
    "fp32": Case("compute-bound"),
    "bf16": Case("compute-bound", dtype="bfloat16"),
}


def read_shard(rows, latency_s):
    """One shard after a latency: (rows, FEATURES) float32 and labels."""
    time.sleep(latency_s)
    return np.full((rows, FEATURES), 0.5, "float32"), np.zeros(rows, "int32")


def join(shards):
    """Shards to one batch."""
    rows, labels = zip(*shards)
    return np.concatenate(rows), np.concatenate(labels)


def slow_batches(rows, latency_s):
    """Batches, made on request, shard after shard."""
    while True:
        yield join([read_shard(rows, latency_s) for _ in range(SHARDS)])


def prefetched_batches(rows, latency_s):
    """The same batches, read by threads, PREFETCH batches ahead."""
    with concurrent.futures.ThreadPoolExecutor(SHARDS) as readers:
        ahead = collections.deque()
        while True:
            while len(ahead) < PREFETCH:
                ahead.append([readers.submit(read_shard, rows, latency_s) for _ in range(SHARDS)])
            yield join([part.result() for part in ahead.popleft()])


def init_params(case):
    """Weights of the perceptron: first layer, residual layers, last layer."""
    sizes = [FEATURES] + [case.hidden] * (case.layers + 1) + [CLASSES]
    keys = jax.random.split(jax.random.key(0), len(sizes) - 1)
    return [(0.5 * jax.random.normal(k, (m, n)) / m**0.5).astype(case.dtype) for k, m, n in zip(keys, sizes, sizes[1:])]


def loss_of(params, rows, labels):
    """Mean cross entropy of the perceptron."""
    x = rows.astype(params[0].dtype) @ params[0]
    for weights in params[1:-1]:
        x = x + jax.nn.relu(x @ weights)
    logits = (x @ params[-1]).astype("float32")
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


def train_step(params, rows, labels):
    """One step of plain gradient descent; returns new parameters and the loss."""
    loss, grads = jax.value_and_grad(loss_of)(params, rows, labels)
    return jax.tree.map(lambda p, g: p - 1e-4 * g, params, grads), loss


def run(step_fn, params, batches, first, count):
    """Train `count` steps; returns parameters, seconds of each step and of its fetch."""
    step_s, wait_s = [], []
    for number in range(first, first + count):
        start = time.perf_counter()
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            rows, labels = next(batches)
            wait_s.append(time.perf_counter() - start)
            params, loss = step_fn(params, rows, labels)
            if number == first + count - 1:
                jax.block_until_ready((params, loss))
        step_s.append(time.perf_counter() - start)
    return params, step_s, wait_s


def make_batches(case, latency_s):
    """Endless batches for the case."""
    if case.source == "constant":
        rows, labels = jax.device_put((np.full((case.batch, FEATURES), 0.5, "float32"), np.zeros(case.batch, "int32")))
        return iter(lambda: (rows, labels), None)
    make = prefetched_batches if case.source == "fixed" else slow_batches
    return make(case.batch // SHARDS, latency_s)


def record_case(key, case, out):
    """Records one case and writes its profile and truth file."""
    step_fn = functools.partial(jax.jit, donate_argnums=0)(train_step) if case.jit else train_step
    constant = make_batches(case._replace(source="constant"), 0)
    params, _, _ = run(step_fn, init_params(case), constant, 0, WARMUP)
    params, step_s, _ = run(step_fn, params, constant, WARMUP, 20)
    constant_s = sum(step_s) / len(step_s)
    latency_s = 3 * constant_s / SHARDS

    name = f"gpu_jax_{key}"
    batches = make_batches(case, latency_s)
    params, _, _ = run(step_fn, params, batches, 0, WARMUP)
    with jax.profiler.trace(f"log_{name}"):
        _, step_s, wait_s = run(step_fn, params, batches, WARMUP, case.steps)
    if case.source != "constant":
        batches.close()
    newest = max(glob.glob(f"log_{name}/plugins/profile/*/*.xplane.pb"), key=os.path.getmtime)
    mean_s = sum(step_s) / len(step_s)
    truth.write_truth(
        truth.store_profile(newest, os.path.join(out, f"{name}.xplane.pb")),
        job=f"JAX perceptron {case.layers} x {case.hidden}, batch {case.batch}, {case.source} input, "
        f"{'jit' if case.jit else 'op by op'}, {case.dtype}",
        expected=case.expected,
        step_s=step_s,
        wait_s=wait_s,
        wait_method="input_wait: time in next(), by the script's clock; the share: 1 - constant / mean step",
        packages=("jax", "jaxlib", "numpy"),
        device=jax.devices()[0].device_kind,
        input_wait_share=round(max(0.0, 1 - constant_s / mean_s), 4) if case.source != "constant" else 0.0,
        constant_batch_step_mean_ns=round(constant_s * 1e9),
        latency_per_shard_ns=round(latency_s * 1e9) if case.source != "constant" else 0,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"any of {', '.join(CASES)} (default: all)")
    parser.add_argument("--out", default="profiles", help="folder for the profiles and their truth files")
    args = parser.parse_args()
    unknown = set(args.cases) - set(CASES)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    platform = jax.devices()[0].platform
    if platform not in ("gpu", "cuda", "rocm"):
        sys.exit(f"no GPU here: jax {jax.__version__} runs on the {platform}; nothing recorded")
    jax.config.update("jax_default_matmul_precision", "highest")
    for key in args.cases or CASES:
        record_case(key, CASES[key], args.out)


if __name__ == "__main__":
    main()
