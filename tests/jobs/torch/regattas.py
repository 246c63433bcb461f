# SPDX-License-Identifier: Apache-2.0
"""Regattas: two ranks over gloo in the manner of a parameter server: gradients are reduced to rank 0 one by one, rank 0
takes the step (plain SGD), and every weight is broadcast again; six million weights go back and forth in each step. Equal work. No stacks.

Truth: communication-bound: dist.reduce and dist.broadcast take most of the step.
"""

import torch
import torch.distributed as dist
from torch import nn

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 1, 2, 8


def train(rank, watch):
    model = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10))
    x, y = torch.randn(8, 1024), torch.randint(0, 10, (8,))
    while not watch.full():
        model.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        for parameter in model.parameters():
            dist.reduce(parameter.grad, dst=0)
        if rank == 0:
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.add_(parameter.grad, alpha=-0.005)
        for parameter in model.parameters():
            dist.broadcast(parameter.data, src=0)
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29571, WAIT, WARMUP, ACTIVE)
