# SPDX-License-Identifier: Apache-2.0
"""Recommendations: a table of embeddings, saved with fsync after every second step. with_stack=True.

Truth: host-bound, in save_checkpoint, not in whichever of its calls is the longest. The cure is to save rarely, or
beside the steps.
"""

import os
import time

import torch
from torch import nn
from torch.profiler import profile, schedule, tensorboard_trace_handler

import truth

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
    rows, saves = [], []
    with profile(
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=tensorboard_trace_handler("log"),
        with_stack=True,
    ) as prof:
        start = time.perf_counter()
        for step in range(WAIT + WARMUP + ACTIVE):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(articles), bought).backward()
            optimizer.step()
            if step % EVERY == 0:
                before = time.perf_counter()
                save_checkpoint(model, "model.pt")
                saves.append(time.perf_counter() - before)
            done = time.perf_counter()
            prof.step()
            rows.append((start, start, done))
            start = time.perf_counter()
    truth.save(rows, WAIT + WARMUP, ACTIVE, ["torch"], save_checkpoint=saves)


if __name__ == "__main__":
    main()
