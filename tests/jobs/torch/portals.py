# SPDX-License-Identifier: Apache-2.0
"""Portals: an IterableDataset over a memory-mapped file; windows are normalised by percentiles in __iter__. No workers, stacks on.

Truth: input-bound, in Portals.__iter__.
"""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8


class Portals(IterableDataset):
    def __init__(self, path):
        self.waves = np.memmap(path, np.float32, "r").reshape(-1, 4096)

    def __iter__(self):
        for window in self.waves:
            low, high = np.percentile(window, (5, 95))
            yield torch.from_numpy(((window - low) / (high - low))[:512].astype(np.float32))



def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.default_rng(0).random((600, 4096), np.float32).tofile("portals.bin")
    loader = DataLoader(Portals("portals.bin"), batch_size=32)
    model = nn.Sequential(nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 512))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for x in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), x).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
