# SPDX-License-Identifier: Apache-2.0
"""Blends: batches are mixed by chance from two generators of the job's own; one reads memory, the other a compressed
archive. Stacks on.

Truth: input-bound, in read_archive, for about every second batch.
"""

import random
import zlib

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 14


def read_memory(rows):
    while True:
        yield rows


def read_archive(blob):
    while True:
        values = np.frombuffer(zlib.decompress(blob), np.float64)
        yield torch.tensor(np.sort(values)[: 32 * 128].reshape(32, 128), dtype=torch.float32)


def blend(sources, weights, chance):
    while True:
        yield next(chance.choices(sources, weights)[0])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    blob = zlib.compress(np.random.default_rng(0).standard_normal(160000).round(3).tobytes())
    batches = blend([read_memory(torch.randn(32, 128)), read_archive(blob)], [1, 1], random.Random(4))
    model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for x in batches:
            watch.fetched()
            loss = nn.functional.mse_loss(model(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
