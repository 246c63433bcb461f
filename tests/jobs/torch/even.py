# SPDX-License-Identifier: Apache-2.0
"""Names: DistributedDataParallel of two processes over gloo, no GPU, equal work; many parameters, little to compute.

Truth: communication-bound: neither rank is late, the all-reduces themselves take the time. All ranks are given.
"""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 2, 2, 20


def train(rank, watch):
    model = DistributedDataParallel(nn.Sequential(nn.Linear(512, 4096), nn.ReLU(), nn.Linear(4096, 1024)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    names, wanted = torch.randn(8, 512), torch.randn(8, 1024)
    while not watch.full():
        optimizer.zero_grad()
        nn.functional.mse_loss(model(names), wanted).backward()
        optimizer.step()
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29532, WAIT, WARMUP, ACTIVE)
