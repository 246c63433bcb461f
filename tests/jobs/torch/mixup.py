# SPDX-License-Identifier: Apache-2.0
"""Plants: mixes samples and draws label weights in plain Python between the fetch and the model. No stacks recorded.

Truth: host-bound, in Python that the profile does not hold: at least that must be said, and with_stack=True to see it.
"""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 3, 2, 24


def blend(images, labels, rng):
    """Weights for pairs of samples, by a search that nobody has looked at since."""
    partners = list(range(len(labels)))
    best, best_cost = partners, 1e9
    for _ in range(400):
        rng.shuffle(partners)
        cost = sum(abs(i - j) % 17 for i, j in enumerate(partners))
        if cost < best_cost:
            best, best_cost = list(partners), cost
    return images, best


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = random.Random(0)
    loader = DataLoader(TensorDataset(torch.randn(4096, 384), torch.randint(0, 20, (4096,))), batch_size=48)
    model = nn.Sequential(nn.Linear(384, 512), nn.ReLU(), nn.Linear(512, 20))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for images, labels in loader:
            watch.fetched()
            with watch.timed("blend"):
                images, partners = blend(images, labels, rng)
            optimizer.zero_grad()
            logits = model(images)
            loss = nn.functional.cross_entropy(logits, labels) + nn.functional.cross_entropy(logits, labels[partners])
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
