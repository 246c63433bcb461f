# SPDX-License-Identifier: Apache-2.0
"""Games: gradients are averaged by hand, one all-reduce for each of 48 small parameters, two processes over gloo.

Truth: communication-bound by its number of calls: fewer and larger ones, never smaller.
"""

import torch
import torch.distributed as dist
from torch import nn

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 2, 2, 10


def average_gradients(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def train(rank, watch):
    model = nn.Sequential(*[layer for _ in range(24) for layer in (nn.Linear(32, 32), nn.Tanh())])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    boards = torch.randn(32, 32)
    while not watch.full():
        optimizer.zero_grad()
        model(boards).square().mean().backward()
        average_gradients(model)
        optimizer.step()
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29533, WAIT, WARMUP, ACTIVE)
