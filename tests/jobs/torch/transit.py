# SPDX-License-Identifier: Apache-2.0
"""Transit: DistributedDataParallel over gloo, gradients of four small batches added up, without no_sync.

Truth: communication-bound: the gradients are all-reduced after each small batch, four times as often as is needed. The
ranks do the same work.
"""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ranks import run_ranks

WAIT, WARMUP, ACTIVE, ACCUMULATE = 2, 2, 6, 4


def train(rank, watch):
    model = DistributedDataParallel(nn.Sequential(nn.Linear(256, 3072), nn.ReLU(), nn.Linear(3072, 512)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    stops, delays = torch.randn(ACCUMULATE, 4, 256), torch.randn(ACCUMULATE, 4, 512)
    while not watch.full():
        for part in range(ACCUMULATE):
            (nn.functional.mse_loss(model(stops[part]), delays[part]) / ACCUMULATE).backward()
        optimizer.step()
        optimizer.zero_grad()
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29541, WAIT, WARMUP, ACTIVE)
