# SPDX-License-Identifier: Apache-2.0
"""Rafts: two ranks over gloo with equal work; rank 0 alone writes a checkpoint after every fourth step. No stacks.

Truth: straggler, rank 0: rank 1 waits for it in the all-reduce behind each checkpoint.
"""

import time

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ranks import run_ranks

WAIT, WARMUP, ACTIVE, EVERY = 2, 2, 16, 4


def save_checkpoint(model):
    torch.save(model.state_dict(), "rafts.pt")
    time.sleep(0.15)  # a shared disk


def train(rank, watch):
    model = DistributedDataParallel(nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    logs, kinds = torch.randn(256, 256), torch.randint(0, 8, (256,))
    step = 0
    while not watch.full():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(logs), kinds).backward()
        optimizer.step()
        step += 1
        if rank == 0 and step % EVERY == 0:
            save_checkpoint(model)
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29553, WAIT, WARMUP, ACTIVE)
