# SPDX-License-Identifier: Apache-2.0
"""Crumbs: after each step a line is appended to a journal and forced to the disk, several times over (one file a metric).
Stacks on.

Truth: host-bound, in append_line (fsync); rarely would be the cure.
"""

import os

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, METRICS = 2, 2, 10, 6


def append_line(name, step, value):
    with open(f"{name}.txt", "a") as out:
        out.write(f"{step}\t{value:.6f}\n" * 2000)
        out.flush()
        os.fsync(out.fileno())


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(64, 128)
    model = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    step = 0
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), x)
            loss.backward()
            optimizer.step()
            for k in range(METRICS):
                append_line(f"metric{k}", step, loss.item() * k)
            step += 1
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
