# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network on samples in memory. Truth: compute-bound, nothing to gain. It has no fix."""

import os

from watch import Watch

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    watch = Watch(80)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 24, 3), nn.ReLU(), nn.Conv2d(24, 24, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(384, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    data = TensorDataset(torch.randn(32 * 100, 3, 32, 32), torch.randint(0, 10, (32 * 100,)))
    watch.begins()
    for x, y in watch.input(DataLoader(data, batch_size=32)):
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
