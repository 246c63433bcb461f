# SPDX-License-Identifier: Apache-2.0
"""Orchards: DistributedDataParallel over gloo, equal work, few parameters and much to compute.

Truth: compute-bound, nothing is wrong; neither rank is late.
"""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 2, 2, 10


def train(rank, watch):
    layers = [nn.Conv2d(3, 48, 3, padding=1), nn.ReLU(), nn.Conv2d(48, 48, 3, padding=1), nn.ReLU()]
    model = DistributedDataParallel(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    trees, kinds = torch.randn(32, 3, 48, 48), torch.randint(0, 4, (32,))
    while not watch.full():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(trees), kinds).backward()
        optimizer.step()
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29542, WAIT, WARMUP, ACTIVE)
