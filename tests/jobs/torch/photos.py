# SPDX-License-Identifier: Apache-2.0
"""Photographs: a DataLoader with two workers, which cannot keep up (a sleep stands for the store). No stacks recorded.

Truth: input-bound, with workers; what they do is not in the profile.
"""

import time

import torch
from torch import nn
from torch.profiler import tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 4, 2, 20


class Photos(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, i):
        time.sleep(0.012)
        return torch.full((3, 32, 32), i / 4096), i % 10


def main():
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 32, 5), nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(), nn.Linear(32 * 49, 10))
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Photos(), batch_size=8, shuffle=True, num_workers=2, persistent_workers=True)
    handler = tensorboard_trace_handler("log", use_gzip=True)
    with StopWatch(WAIT, WARMUP, ACTIVE, on_trace_ready=handler) as watch:
        for images, labels in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
