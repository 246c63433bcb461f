# SPDX-License-Identifier: Apache-2.0
"""Documents: DistributedDataParallel of two processes over gloo, no GPU; one of them has the longer documents.

Truth: straggler, rank 1. Rank 0 waits for it in the all-reduce of every step; smaller buckets, or another network,
would change nothing.
"""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 2, 2, 20


def train(rank, watch):
    model = DistributedDataParallel(nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    words = 96 if rank == 0 else 400
    while not watch.full():
        documents, labels = torch.randn(16, words, 256), torch.randint(0, 8, (16,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(documents).mean(1), labels).backward()
        optimizer.step()
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29531, WAIT, WARMUP, ACTIVE)
