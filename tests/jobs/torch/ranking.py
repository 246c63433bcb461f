# SPDX-License-Identifier: Apache-2.0
"""Ranking: a job that is well fed, and evaluates on four held-out batches after every sixth step. with_stack=True.

Truth: compute-bound, but each sixth step takes several times as long, in evaluate: a third of the time and more. The
median step says nothing of that.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, EVERY = 2, 2, 18, 6


def evaluate(model, held_out):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for queries, scores in held_out:
            total += nn.functional.mse_loss(model(queries), scores).item()
    model.train()
    return total / len(held_out)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train = DataLoader(TensorDataset(torch.randn(1024, 256), torch.randn(1024, 1)), batch_size=24, shuffle=True)
    held_out = [(torch.randn(128, 256), torch.randn(128, 1)) for _ in range(4)]
    model = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 1024), nn.ReLU(), nn.Linear(1024, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for step, (queries, scores) in enumerate(train):
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.mse_loss(model(queries), scores).backward()
            optimizer.step()
            if step % EVERY == EVERY - 1:
                with watch.timed("evaluate"):
                    evaluate(model, held_out)
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
