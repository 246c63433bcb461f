# SPDX-License-Identifier: Apache-2.0
"""Canals: three ranks over gloo; the files of rank 2 are on a slow disk. No stacks recorded.

Truth: straggler, rank 2, and that by its input: the others wait for it in the all-reduce.
"""

import time

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

from ranks import run_ranks

WAIT, WARMUP, ACTIVE = 2, 1, 9


class Barges(Dataset):
    def __init__(self, pause_s):
        self.pause_s = pause_s

    def __len__(self):
        return 4096

    def __getitem__(self, i):
        time.sleep(self.pause_s)
        return torch.full((256,), i / 4096), torch.tensor([i / 4096])


def train(rank, watch):
    model = DistributedDataParallel(nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for loads, delays in DataLoader(Barges(0.012 if rank == 2 else 0.0), batch_size=16):
        watch.fetched()
        optimizer.zero_grad()
        nn.functional.mse_loss(model(loads), delays).backward()
        optimizer.step()
        if watch.step():
            break


if __name__ == "__main__":
    run_ranks(train, 29551, WAIT, WARMUP, ACTIVE, ranks=3)
