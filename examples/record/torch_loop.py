# SPDX-License-Identifier: Apache-2.0
"""Records a PyTorch training loop on the CPU that waits for its DataLoader; or the same job with the fix.

Job: a small CNN on batches of 16; each sample is one read from a store LATENCY_S away (a sleep stands for the
network) plus a little NumPy work.
  default   DataLoader with num_workers=0: the training thread itself fetches the 16 samples one after the other
  --fixed   4 workers, prefetch_factor=2, persistent: the reads overlap with each other and with training

Method: torch.profiler with a schedule (WAIT, WARMUP, ACTIVE), exported by export_chrome_trace; the script times
each next(loader) and each step from the end of one profiler.step() to the end of the next. The last active step
would include the profiler's own stop; it is timed up to the call.
Limits: CPU only. Kineto records nothing about worker processes: with the fix, the profile doesn't show the reads, only
the short wait for them. Stacks are off, so the file has no frames of the script.
"""

import argparse
import os
import time

import numpy as np
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

import truth

BATCH, SAMPLES, SIDE = 16, 4096, 64
LATENCY_S = 0.004
WAIT, WARMUP, ACTIVE = 5, 3, 20


class RemoteSamples(torch.utils.data.Dataset):
    """SAMPLES images, each read with a latency of LATENCY_S; returns (3, SIDE, SIDE) float32 and a label."""

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        time.sleep(LATENCY_S)
        rng = np.random.default_rng(index)
        image = rng.standard_normal((3, SIDE, SIDE), dtype=np.float32)
        image = (image - image.mean()) / image.std()
        return torch.from_numpy(image), int(index) % 10


def make_loader(fixed):
    """The loader with common settings, or with workers."""
    workers = dict(num_workers=4, prefetch_factor=2, persistent_workers=True) if fixed else dict(num_workers=0)
    return torch.utils.data.DataLoader(RemoteSamples(), batch_size=BATCH, shuffle=True, drop_last=True, **workers)


def make_model():
    """A CNN of a few tens of milliseconds per step on two cores."""
    layers, channels = [], 3
    for filters in (16, 32, 64):
        layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.BatchNorm2d(filters), nn.ReLU(), nn.MaxPool2d(2)]
        channels = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


def train_step(model, loss_of, optimizer, images, labels):
    """One optimizer step; returns the loss as a number."""
    optimizer.zero_grad()
    loss = loss_of(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def record(loader, trace_path):
    """Run and profile the loop; returns seconds per active step and seconds of each spent in next(loader)."""
    model, loss_of = make_model(), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = iter(loader)
    step_s, wait_s = [], []
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=lambda prof: prof.export_chrome_trace(trace_path),
    ) as prof:
        start = time.perf_counter()
        for step in range(WAIT + WARMUP + ACTIVE):
            before = time.perf_counter()
            images, labels = next(batches)
            waited = time.perf_counter() - before
            train_step(model, loss_of, optimizer, images, labels)
            last = step == WAIT + WARMUP + ACTIVE - 1
            end = time.perf_counter()
            prof.step()
            end = end if last else time.perf_counter()
            step_s.append(end - start)
            wait_s.append(waited)
            start = time.perf_counter()
    return step_s[-ACTIVE:], wait_s[-ACTIVE:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fixed", action="store_true", help="record the repaired loader")
    parser.add_argument("--out", default="profiles", help="folder for the profile and its truth file")
    args = parser.parse_args()
    torch.manual_seed(0)
    name = "torch_cpu_fixed" if args.fixed else "torch_cpu_input"
    trace_path = f"{name}.pt.trace.json"
    step_s, wait_s = record(make_loader(args.fixed), trace_path)
    stored = truth.store_profile(trace_path, os.path.join(args.out, trace_path))
    truth.write_truth(
        stored,
        job=f"PyTorch CNN on the CPU, batch {BATCH}, DataLoader with {4 if args.fixed else 0} workers",
        expected="compute-bound" if args.fixed else "input-bound",
        step_s=step_s,
        wait_s=wait_s,
        wait_method="time in next(loader), by the script's clock",
        packages=("torch", "numpy"),
    )


if __name__ == "__main__":
    main()
