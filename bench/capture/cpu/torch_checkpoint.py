# SPDX-License-Identifier: Apache-2.0
"""A checkpoint after each step. Truth: host-bound. Fix: one every fifty steps."""

import os
import tempfile
import time

from watch import Watch

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def save_checkpoint(model, optimizer, step, folder):
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    torch.save(state, os.path.join(folder, "last.pt"))


def main():
    watch = Watch(100)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 16))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    loader = DataLoader(TensorDataset(torch.randn(24 * 400, 512), torch.randint(0, 16, (24 * 400,))), batch_size=24)
    with tempfile.TemporaryDirectory() as folder:
        watch.begins()
        for step, (x, y) in enumerate(watch.input(loader)):
            watch.fetched()
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            before = time.perf_counter()
            if not watch.fixed or step % 50 == 49:
                save_checkpoint(model, optimizer, step, folder)
            watch.add("checkpoint_s", time.perf_counter() - before)
            if watch.ended(loss.item()):
                break
    watch.save()


if __name__ == "__main__":
    main()
