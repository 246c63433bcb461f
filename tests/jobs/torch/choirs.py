# SPDX-License-Identifier: Apache-2.0
"""Choirs: contrastive learning: two ranks over gloo gather the embeddings of all, which are long, before the loss.

Truth: communication-bound, in all_gather; neither rank is late.
"""

import torch
import torch.distributed as dist
from torch import nn

from ranks import run_ranks

WAIT, WARMUP, ACTIVE, WIDTH = 2, 2, 10, 49152


def gather_embeddings(own):
    everyone = [torch.empty_like(own) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, own)
    return everyone


def train(rank, watch):
    model = nn.Linear(16, WIDTH)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    voices = torch.randn(32, 16)
    while not watch.full():
        optimizer.zero_grad()
        embeddings = model(voices)
        others = gather_embeddings(embeddings.detach())
        (embeddings[:2] * others[1 - rank][:2]).mean().backward()
        optimizer.step()
        watch.step()


if __name__ == "__main__":
    run_ranks(train, 29552, WAIT, WARMUP, ACTIVE)
