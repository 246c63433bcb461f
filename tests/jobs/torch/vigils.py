# SPDX-License-Identifier: Apache-2.0
"""Vigils: the loop validates on held-out batches every fourth step, in a function of its own with model.eval(). Stacks on.

Truth: compute-bound by its kinds of work; every fourth step is long, by run_validation.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 16


@torch.no_grad()
def run_validation(model, held_out):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in held_out)
    model.train()
    return right / sum(len(y) for _, y in held_out)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    make = lambda n: [(torch.randn(64, 256), torch.randint(0, 10, (64,))) for _ in range(n)]  # noqa: E731
    train, held_out = make(4), make(12)
    model = nn.Sequential(
        nn.Linear(256, 768), nn.ReLU(), nn.Dropout(0.1), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    step, best = 0, 0.0
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while True:
            x, y = train[step % len(train)]
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 4 == 0:
                best = max(best, run_validation(model, held_out))
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
