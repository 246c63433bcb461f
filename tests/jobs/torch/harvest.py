# SPDX-License-Identifier: Apache-2.0
"""Harvests: epochs of eight steps from memory, each followed by a validation whose samples are read one by one from far
away. with_stack=True.

Truth: input-bound, in the fetches of validate, every eighth step; all other steps are well fed.
"""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 4, 4, 16


class HeldOut(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, i):
        time.sleep(0.006)
        return torch.full((256,), i / 24), torch.tensor([i / 24])


def validate(model, loader, watch):
    total, batches = 0.0, iter(loader)
    with torch.no_grad():
        for _ in range(len(loader)):
            with watch.waiting():
                fields, tons = next(batches)
            total += nn.functional.mse_loss(model(fields), tons).item()
    return total / len(loader)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    fields = TensorDataset(torch.randn(8 * 6, 256), torch.randn(8 * 6, 1))
    train, held_out = DataLoader(fields, batch_size=6, shuffle=True), DataLoader(HeldOut(), batch_size=8)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for _ in range((WAIT + WARMUP + ACTIVE) // 8):
            for step, (plots, tons) in enumerate(train):
                watch.fetched()
                optimizer.zero_grad()
                nn.functional.mse_loss(model(plots), tons).backward()
                optimizer.step()
                if step == len(train) - 1:
                    validate(model, held_out, watch)
                watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
