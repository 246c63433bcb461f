# SPDX-License-Identifier: Apache-2.0
"""The tutorial's job in PyTorch: a small network whose batches come from slow storage (docs/tutorial.md)."""
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

BATCH, READ_S, WORK = 8, 0.014, 900


class Samples(Dataset):
    def __len__(self):
        return 60 * BATCH

    def __getitem__(self, index):
        return read_sample(index), index % 10


def read_sample(index):
    time.sleep(READ_S)  # stands for a file on the network
    return np.random.default_rng(index).standard_normal((64, WORK), dtype=np.float32)


def main():
    torch.set_num_threads(1)
    loader = DataLoader(Samples(), batch_size=BATCH)
    model = torch.nn.Sequential(torch.nn.Linear(WORK, 2 * WORK), torch.nn.ReLU(), torch.nn.Linear(2 * WORK, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x).mean(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
