# SPDX-License-Identifier: Apache-2.0
"""Kelpies: DistributedDataParallel of two ranks over gloo, two micro-batches a step, the first under no_sync. No stacks.

Truth: compute-bound; the ranks are alike, and the gradients are few. Healthy.
"""

import contextlib

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ranks import run_ranks

WAIT, WARMUP, ACTIVE, MICRO = 1, 2, 6, 2


def train(rank, watch):
    model = DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 24, 3), nn.ReLU(), nn.Conv2d(24, 24, 3), nn.ReLU(),
                                                  nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10)))  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images, labels = torch.randn(16, 3, 64, 64), torch.randint(0, 10, (16,))
    while True:
        for micro in range(MICRO):
            with model.no_sync() if micro < MICRO - 1 else contextlib.nullcontext():
                (nn.functional.cross_entropy(model(images), labels) / MICRO).backward()
        optimizer.step()
        optimizer.zero_grad()
        if watch.step():
            break


if __name__ == "__main__":
    run_ranks(train, 29683, WAIT, WARMUP, ACTIVE)
