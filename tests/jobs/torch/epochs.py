# SPDX-License-Identifier: Apache-2.0
"""Letters: short epochs, and a DataLoader whose two workers restart for each of them. No stacks recorded.

Truth: input-bound in the first fetch of every epoch of five steps, while workers start. The cure is
persistent_workers=True; more workers would make it worse.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 5, 5, 25


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    letters = TensorDataset(torch.randn(160, 256), torch.randint(0, 26, (160,)))
    loader = DataLoader(letters, batch_size=32, shuffle=True, num_workers=2)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 26))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for _ in range((WAIT + WARMUP + ACTIVE) // 5):
            for images, labels in loader:
                watch.fetched()
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(images), labels).backward()
                optimizer.step()
                watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
