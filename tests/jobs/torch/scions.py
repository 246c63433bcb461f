# SPDX-License-Identifier: Apache-2.0
"""Scions: the loop keeps the best model by copy.deepcopy after each step whose loss is lower, which all are. Many small layers;
stacks on.

Truth: host-bound, in keep_best (deepcopy); rarely would be the cure.
"""

import copy

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 6


def keep_best(model, optimizer):
    return copy.deepcopy(model), copy.deepcopy(optimizer.state_dict())


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(*(nn.Sequential(nn.Linear(32, 32), nn.LayerNorm(32), nn.Tanh()) for _ in range(24)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    x = torch.randn(64, 32)
    best = None
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), x).backward()
            optimizer.step()
            best = keep_best(model, optimizer)
            watch.step()
    assert best
    watch.save("torch")


if __name__ == "__main__":
    main()
