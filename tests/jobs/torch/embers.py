# SPDX-License-Identifier: Apache-2.0
"""Embers: the loop takes its batches out of compressed archives of NumPy's, each opened by open_shard before the step. Stacks on.

Truth: input-bound, in open_shard.
"""

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 10


def open_shard(path):
    with np.load(path) as shard:
        return torch.from_numpy(shard["x"]), torch.from_numpy(shard["y"])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    for n in range(4):
        x = rng.integers(0, 50, (128, 2048)).astype(np.float32)
        np.savez_compressed(f"embers{n}.npz", x=x, y=rng.integers(0, 3, 128))
    model = nn.Sequential(nn.Linear(2048, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    step = 0
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            x, y = open_shard(f"embers{step % 4}.npz")
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            step += 1
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
