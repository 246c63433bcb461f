# SPDX-License-Identifier: Apache-2.0
"""Recommendations: a table of embeddings, saved with fsync after every second step. with_stack=True.

Truth: host-bound, in save_checkpoint, not in whichever of its calls is the longest. The cure is to save rarely, or
beside the steps.
"""

import os

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, EVERY = 2, 2, 16, 2


def save_checkpoint(model, path):
    with open(path + ".new", "wb") as out:
        torch.save(model.state_dict(), out)
        out.flush()
        os.fsync(out.fileno())
    os.replace(path + ".new", path)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.EmbeddingBag(60000, 96), nn.Linear(96, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    articles, bought = torch.randint(0, 60000, (256, 40)), torch.rand(256, 1)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for step in range(WAIT + WARMUP + ACTIVE):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(articles), bought).backward()
            optimizer.step()
            if step % EVERY == 0:
                with watch.timed("save_checkpoint"):
                    save_checkpoint(model, "model.pt")
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
