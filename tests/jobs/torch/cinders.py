# SPDX-License-Identifier: Apache-2.0
"""Cinders: EmbeddingBag with sparse gradients, SparseAdam for it and Adam for the rest; data in memory. No stacks.

Truth: compute-bound; healthy.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8



def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    bags = nn.EmbeddingBag(20_000, 128, mode="sum", sparse=True)
    head = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 1))
    for_bags = torch.optim.SparseAdam(bags.parameters())
    for_head = torch.optim.Adam(head.parameters())
    ids, wanted = torch.randint(0, 20_000, (1024, 40)), torch.randn(1024, 1)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        while not watch.full():
            for_bags.zero_grad()
            for_head.zero_grad()
            nn.functional.mse_loss(head(bags(ids)), wanted).backward()
            for_bags.step()
            for_head.step()
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
