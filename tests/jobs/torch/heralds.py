# SPDX-License-Identifier: Apache-2.0
"""Heralds: two ranks over gloo; rank 0 alone reads the batch (Python, 30 ms) and sends it to the other by broadcast; then both
train under DDP. Stacks on.

Truth: rank 1 waits for rank 0, which prepares the data of both: a straggler, or input-bound.
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 2, 2, 8


def read_sentences(step):
    rows = []
    for n in range(64):
        words = [f"{(n * 31 + step * 7 + k * k) % 997:03}" for k in range(250)]
        rows.append([float(int(w)) / 997 for w in words][:128])
    return torch.tensor(rows)


def train(rank, watch):
    model = DistributedDataParallel(nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 128)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    step = 0
    while not watch.full():
        batch = read_sentences(step) if rank == 0 else torch.empty(64, 128)
        watch.fetched()
        dist.broadcast(batch, 0)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(batch), batch).backward()
        optimizer.step()
        step += 1
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29571, WAIT, WARMUP, ACTIVE)
