# SPDX-License-Identifier: Apache-2.0
"""Gabions: two ranks over gloo that sum twenty metrics of one number each after every step, by twenty all_reduce. No stacks.

Truth: communication-bound: many tiny collectives; one of twenty numbers is the cure.
"""

import torch
import torch.distributed as dist
from torch import nn

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 2, 2, 10


def train(rank, watch):
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(32, 64)
    metrics = [torch.zeros(1) for _ in range(20)]
    while not watch.full():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), x)
        loss.backward()
        optimizer.step()
        for n, metric in enumerate(metrics):
            metric.fill_(float(loss.detach()) * n)
            dist.all_reduce(metric)
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29577, WAIT, WARMUP, ACTIVE)
