# SPDX-License-Identifier: Apache-2.0
"""Records PyTorch on a CUDA GPU in pairs of cases that differ in one respect.

  input    fixed       DataLoader without workers, pageable memory | 8 workers, pinned memory, non-blocking copies
  eager    compiled    many small kernels launched one by one      | torch.compile(mode="reduce-overhead")
           graph                                                   | the whole step captured as one CUDA graph
  fp32     bf16        large matrix products in float32 (no TF32)  | in bfloat16

Job: a perceptron with a residual in each layer. In input and fixed the batch comes from shards with a read latency
(a sleep), set so that one process takes 3 x the step's compute time to read a batch; the other cases train on one
batch that stays on the device.
Method: torch.profiler with a schedule. The compute time is measured without the profiler, on one batch that stays on
the device, before recording; wait = 1 - compute / recorded step. The time inside next(loader) is stored too.
Limits: the expected verdicts are those on an H200; in "compiled", the optimizer and the autograd engine stay on the
CPU, which is slower than so fast a device: host-bound. A slower device may not be. If the CPU runs ahead (fixed, graph,
fp32, bf16), the script's clock measures launching, and the last step waits for all others: only the sum of the steps is
the device's time. "compiled" needs Triton and a C compiler. The first captured or compiled steps are outside the
profile.
"""

import argparse
import os
import sys
import time
from typing import NamedTuple

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

import truth

SHARDS, FEATURES, CLASSES = 16, 1024, 10
WAIT, WARMUP, ACTIVE = 5, 3, 10


class Case(NamedTuple):
    """One recording. source: "slow" or "fixed" loader, or "constant" for one batch kept on the device."""

    expected: str
    source: str = "constant"
    mode: str = "eager"
    dtype: torch.dtype = torch.float32
    batch: int = 4096
    hidden: int = 4096
    layers: int = 6


SMALL = dict(batch=64, hidden=512, layers=24)
CASES = {
    "input": Case("input-bound", source="slow"),
    "fixed": Case("compute-bound", source="fixed"),
    "eager": Case("host-bound", **SMALL),
    "compiled": Case("host-bound", mode="compiled", **SMALL),
    "graph": Case("compute-bound", mode="graph", **SMALL),
    "fp32": Case("compute-bound"),
    "bf16": Case("compute-bound", dtype=torch.bfloat16),
}


class Shards(torch.utils.data.Dataset):
    """Shards of `rows` samples, each read with a latency; returns (rows, FEATURES) float32 and labels."""

    def __init__(self, rows, latency_s):
        self.rows, self.latency_s = rows, latency_s

    def __len__(self):
        return 4096 * SHARDS

    def __getitem__(self, index):
        time.sleep(self.latency_s)
        return torch.full((self.rows, FEATURES), (index % 7) / 7), torch.full((self.rows,), index % CLASSES)


def join(shards):
    """Shards to one batch."""
    rows, labels = zip(*shards)
    return torch.cat(rows), torch.cat(labels)


def make_batches(case, latency_s):
    """Endless batches in CPU memory for the case."""
    fixed = dict(num_workers=8, prefetch_factor=2, persistent_workers=True, pin_memory=True)
    options = fixed if case.source == "fixed" else dict(num_workers=0)
    shards = Shards(case.batch // SHARDS, latency_s)
    return iter(torch.utils.data.DataLoader(shards, batch_size=SHARDS, collate_fn=join, **options))


class Residual(nn.Module):
    """Linear, ReLU and a residual connection around them."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.linear(x))


def make_model(case, device):
    """The perceptron of a case, in its number format."""
    body = [Residual(case.hidden) for _ in range(case.layers)]
    model = nn.Sequential(nn.Linear(FEATURES, case.hidden), *body, nn.Linear(case.hidden, CLASSES))
    return model.to(device, case.dtype)


def plain_step(model, optimizer):
    """A function that trains one step and returns the loss, still on the device."""

    def step(rows, labels):
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        return loss

    return step


def graph_step(model, optimizer, rows, labels):
    """plain_step as one CUDA graph over fixed buffers, after the whole-network example of PyTorch's notes."""
    rows, labels = rows.clone(), labels.clone()
    step = plain_step(model, optimizer)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(rows, labels)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = step(rows, labels)

    def replay(new_rows, new_labels):
        rows.copy_(new_rows, non_blocking=True)
        labels.copy_(new_labels, non_blocking=True)
        graph.replay()
        return loss

    return replay


def make_step(case, device, rows, labels):
    """The step function of a case, warmed up."""
    model = make_model(case, device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    if case.mode == "graph":
        return graph_step(model, optimizer, rows, labels)
    if case.mode == "compiled":
        model = torch.compile(model, mode="reduce-overhead")
    step = plain_step(model, optimizer)
    for _ in range(5):
        step(rows, labels)
    return step


def wait_for(device):
    """Waits until the device has finished what was launched."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def time_constant(step, rows, labels, device, count=20):
    """Mean seconds per step on one batch that stays on the device, without the profiler."""
    wait_for(device)
    start = time.perf_counter()
    for _ in range(count):
        step(rows, labels)
    wait_for(device)
    return (time.perf_counter() - start) / count


def record(step, fetch, device, trace_path):
    """Profile the loop; returns seconds of each active step and of its fetch."""
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device.type == "cuda" else [])
    total = WAIT + WARMUP + ACTIVE
    step_s, wait_s = [], []
    with profile(
        activities=activities,
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=lambda prof: prof.export_chrome_trace(trace_path),
    ) as prof:
        for number in range(total):
            if number == WAIT + WARMUP:
                wait_for(device)  # otherwise earlier launches would be part of the recorded steps
            start = time.perf_counter()
            rows, labels = fetch()
            wait_s.append(time.perf_counter() - start)
            step(rows, labels)
            if number == total - 1:
                wait_for(device)
                step_s.append(time.perf_counter() - start)
            prof.step()
            if number < total - 1:
                step_s.append(time.perf_counter() - start)
    return step_s[-ACTIVE:], wait_s[-ACTIVE:]


def record_case(key, case, device, out):
    """Records one case and writes its profile and truth file."""
    torch.manual_seed(0)
    rows = torch.rand(case.batch, FEATURES, device=device).to(case.dtype)
    labels = torch.zeros(case.batch, dtype=torch.int64, device=device)
    step = make_step(case, device, rows, labels)
    constant_s = time_constant(step, rows, labels, device)
    latency_s = 3 * constant_s / SHARDS
    batches = make_batches(case, latency_s)

    def fetch():
        if case.source == "constant":
            return rows, labels
        x, y = next(batches)
        ready = case.source == "fixed"
        return x.to(device, case.dtype, non_blocking=ready), y.to(device, non_blocking=ready)

    name = f"gpu_torch_{key}"
    trace_path = f"{name}.pt.trace.json"
    step_s, wait_s = record(step, fetch, device, trace_path)
    mean_s = sum(step_s) / len(step_s)
    truth.write_truth(
        truth.store_profile(trace_path, os.path.join(out, trace_path)),
        job=f"PyTorch perceptron {case.layers} x {case.hidden}, batch {case.batch}, {case.source} input, "
        f"{case.mode}, {case.dtype}",
        expected=case.expected,
        step_s=step_s,
        wait_s=wait_s,
        wait_method="input_wait: fetch and copy of a batch, by the script's clock; share: 1 - constant / mean step",
        packages=("torch",),
        device=torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
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
    if not torch.cuda.is_available():
        sys.exit(f"no GPU here: torch {torch.__version__} finds no CUDA device; nothing recorded")
    torch.set_float32_matmul_precision("highest")
    for key in args.cases or CASES:
        record_case(key, CASES[key], torch.device("cuda"), args.out)


if __name__ == "__main__":
    main()
