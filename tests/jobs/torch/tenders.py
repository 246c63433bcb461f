# SPDX-License-Identifier: Apache-2.0
"""Tenders: DistributedDataParallel of two ranks over gloo; the texts of rank 1 are four times as long, as they were sorted before
they were shared out. No stacks.

Truth: straggler: rank 1 computes longer in each step, rank 0 waits for it in the all-reduce.
"""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 1, 2, 6


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.mix, self.head = nn.Embedding(1000, 96), nn.Linear(96, 384), nn.Linear(384, 4)

    def forward(self, ids):
        return self.head(torch.relu(self.mix(self.embed(ids))).mean(1))


def train(rank, watch):
    model = DistributedDataParallel(Reader())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    ids, labels = torch.randint(0, 1000, (32, 480 if rank == 1 else 120)), torch.randint(0, 4, (32,))
    while True:
        loss = nn.functional.cross_entropy(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if watch.step():
            break


if __name__ == "__main__":
    run_ranks(train, 29687, WAIT, WARMUP, ACTIVE)
