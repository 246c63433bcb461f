# SPDX-License-Identifier: Apache-2.0
"""Meteors: windows of a memory-mapped array of tokens are gathered in get_batch, as small language models do it, each converted and
copied one by one; too many small windows for so small a model. Stacks on.

Truth: input-bound, in get_batch.
"""

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8
BLOCK, BATCH = 256, 192


def get_batch(tokens):
    starts = torch.randint(len(tokens) - BLOCK - 1, (BATCH,))
    x = torch.stack([torch.from_numpy(tokens[s : s + BLOCK].astype(np.int64)) for s in starts])
    y = torch.stack([torch.from_numpy(tokens[s + 1 : s + 1 + BLOCK].astype(np.int64)) for s in starts])
    return x, y


class Bigram(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag, self.head = nn.EmbeddingBag(512, 32), nn.Linear(32, 512)

    def forward(self, x):
        return self.head(self.bag(x))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.default_rng(0).integers(0, 512, 1 << 20, np.uint16).tofile("meteors.bin")
    tokens = np.memmap("meteors.bin", np.uint16, "r")
    model = Bigram()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while True:
            x, y = get_batch(tokens)
            watch.fetched()
            loss = nn.functional.cross_entropy(model(x), y[:, -1])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
