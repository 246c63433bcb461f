# SPDX-License-Identifier: Apache-2.0
"""Mosaics: a pool of two threads builds the batches (sorting in NumPy, which lets the lock go), three ahead; the loop takes each by
future.result(). Stacks on.

Truth: input-bound, in build_tiles; the pool does not keep up.
"""

import collections
import concurrent.futures

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 3, 2, 10


def build_tiles(n):
    rng = np.random.default_rng(n)
    tiles = np.sort(rng.random((600, 2048), np.float32), 1)
    return torch.from_numpy(tiles[:64])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2048, 64), nn.ReLU(), nn.Linear(64, 16))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    ahead, n = collections.deque(), 0
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        while not watch.full():
            while len(ahead) < 3:
                ahead.append(pool.submit(build_tiles, n))
                n += 1
            x = ahead.popleft().result()
            watch.fetched()
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
