# SPDX-License-Identifier: Apache-2.0
"""A healthy model whose launcher sets OMP_NUM_THREADS=16 on a machine with fewer cores (jobs.tsv). Truth: no loss from
input or CPU: its own operations take longer than needed. Fix: as many threads as the job may use cores."""

import copy
import os

from watch import Watch

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    watch = Watch(60)
    if watch.fixed:
        torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.manual_seed(0)
    block = [nn.Linear(96, 96), nn.LayerNorm(96), nn.GELU()]
    model = nn.Sequential(*(copy.deepcopy(layer) for _ in range(6) for layer in block), nn.Linear(96, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(100, 512, 96), torch.randint(0, 10, (100, 512)))
    watch.begins()
    for x, y in watch.input(DataLoader(data, batch_size=None)):
        watch.fetched()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if watch.ended(loss.item()):
            break
    watch.save()


if __name__ == "__main__":
    main()
