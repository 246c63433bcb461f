# SPDX-License-Identifier: Apache-2.0
"""Ballads: the job's own batch sampler groups verses of similar length, for each batch again, in plain Python;
the DataLoader has two workers. with_stack=True.

Truth: input-bound, in LikeLengths.__iter__, which runs in the main process however many workers there are.
"""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 1, 9


class Verses(Dataset):
    def __len__(self):
        return 40000

    def __getitem__(self, i):
        return torch.full((128,), i / 40000), i % 8


class LikeLengths(Sampler):
    def __init__(self, lengths, batch_size):
        self.lengths, self.batch_size, self.rng = lengths, batch_size, random.Random(0)

    def __iter__(self):
        left = list(range(len(self.lengths)))
        while left:
            wanted = self.lengths[self.rng.choice(left)]
            nearest = sorted([((self.lengths[i] - wanted) ** 2, i) for i in left])
            yield [i for _, i in nearest[: self.batch_size]]
            left = [i for _, i in nearest[self.batch_size :]]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = random.Random(1)
    sampler = LikeLengths([rng.randint(4, 400) for _ in range(40000)], 32)
    loader = DataLoader(Verses(), batch_sampler=sampler, num_workers=2)
    model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for verses, forms in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(verses), forms).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
