# SPDX-License-Identifier: Apache-2.0
"""Lintels: a Dataset with a Compose of transforms of the job's own (crop, flip, normalise, noise) on tensors. No workers, stacks on.

Truth: input-bound, in the transforms.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


def random_crop(image):
    top, left = torch.randint(0, 8, (2,)).tolist()
    return image[:, top : top + 32, left : left + 32]


def random_flip(image):
    return image.flip(2) if torch.rand(1) < 0.5 else image


def normalise(image):
    return (image - image.mean()) / image.std()


class Lintels(Dataset):
    def __init__(self):
        self.images = torch.rand(480, 3, 40, 40)
        self.transform = Compose(random_crop, random_flip, normalise)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, n):
        return self.transform(self.images[n]), n % 4



def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Lintels(), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3072, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for x, y in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
