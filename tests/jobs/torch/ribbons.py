# SPDX-License-Identifier: Apache-2.0
"""Ribbons: two ranks over gloo; each rank's batch has a random length in each step. No stacks.

Truth: in each step the rank with the shorter sequence waits for the other one, now this, now that: no straggler. A third of
the time or more is that wait and the all-reduce. Batches of like lengths on all ranks would mend it.
"""

import random

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 2, 2, 16


def train(rank, watch):
    lengths = random.Random(7 + rank)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(192, 512), nn.GELU(), nn.Linear(512, 192)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    while not watch.full():
        x = torch.randn(lengths.choice((50, 250, 1500, 6000)), 192)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x).backward()
        optimizer.step()
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29561, WAIT, WARMUP, ACTIVE)
