# SPDX-License-Identifier: Apache-2.0
"""Atlases: the profiler's shortest example: no schedule, no call after each step, no stacks; a DataLoader in the
process itself, whose dataset projects maps with numpy.

Truth: input-bound, in the dataset; the profile has no step marks.
"""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

STEPS = 14


class Maps(Dataset):
    def __len__(self):
        return 1024

    def __getitem__(self, i):
        grid = np.linspace(-1, 1, 8000) * (i + 1)
        return torch.from_numpy(np.tan(np.sin(grid) * np.cos(grid))[::40].astype(np.float32)), i % 3


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(200, 384), nn.ReLU(), nn.Linear(384, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    with StopWatch(0, 0, STEPS, marks=False) as watch:
        for maps, scales in DataLoader(Maps(), batch_size=48, shuffle=True):
            watch.fetched()
            optimizer.zero_grad()
            loss = criterion(model(maps), scales)
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch", "numpy")


if __name__ == "__main__":
    main()
