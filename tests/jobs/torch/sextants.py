# SPDX-License-Identifier: Apache-2.0
"""Sextants: the profiler as in its shortest example: no schedule, no step(), no stacks; a DataLoader without workers whose
dataset filters in NumPy.

Truth: input-bound; workers would be the cure.
"""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

COUNT = 12


class Sextants(Dataset):
    def __len__(self):
        return 32 * (COUNT + 2)

    def __getitem__(self, n):
        rng = np.random.default_rng(n)
        wave = np.cumsum(rng.normal(size=8192))
        spectrum = np.abs(np.fft.rfft(wave - wave.mean()))[:256]
        return torch.from_numpy(np.log1p(spectrum).astype(np.float32)), torch.tensor(n % 6)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Sextants(), batch_size=32)
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 6))
    optimizer = torch.optim.Adam(model.parameters())
    with StopWatch(0, 0, COUNT, marks=False) as watch:
        for x, y in loader:
            watch.fetched()
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
