# SPDX-License-Identifier: Apache-2.0
"""Piers: DistributedDataParallel of two ranks over gloo; rank 0 alone writes a checkpoint and a log line behind each step. No stacks.

Truth: straggler: rank 0 comes late to each all-reduce, as it saves; rank 1 waits for it.
"""

import time

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 2, 2, 6


def train(rank, watch):
    model = DistributedDataParallel(nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 16)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    while True:
        x = torch.randn(32, 256)
        watch.fetched()
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            torch.save(model.state_dict(), "piers.pt")
            time.sleep(0.04)  # the file system across the network
        if watch.step():
            break


if __name__ == "__main__":
    run_ranks(train, 29671, WAIT, WARMUP, ACTIVE)
