# SPDX-License-Identifier: Apache-2.0
"""Skillets: the loop makes the batch of the next step at its own end, after optimizer.step(), on the same thread. Stacks on.

Truth: input-bound, in cook (sorted patches in NumPy); it comes last in the step, and nothing overlaps.
"""

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 7


class Recipe:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.pictures = self.rng.integers(0, 255, (200, 64, 64), np.uint8)

    def cook(self, portions):
        plates = self.pictures[self.rng.integers(0, 200, portions)].reshape(portions, 16, 256)
        plates = np.sort(plates + self.rng.normal(0, 2, plates.shape), axis=2)
        return torch.from_numpy(plates[:, :, ::8].reshape(portions, -1).astype(np.float32) / 256)


def train(args_batch=64):
    recipe, model = Recipe(1), nn.Sequential(nn.Linear(512, 512), nn.SiLU(), nn.Linear(512, 512))
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    watch = StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True)
    nxt = recipe.cook(args_batch)
    with watch:
        while not watch.full():
            cur = nxt
            sgd.zero_grad()
            loss = (model(cur) - cur).pow(2).mean()
            loss.backward()
            sgd.step()
            with watch.waiting():
                nxt = recipe.cook(args_batch)
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train()
