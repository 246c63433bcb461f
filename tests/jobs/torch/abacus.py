# SPDX-License-Identifier: Apache-2.0
"""Abacus: behind each step the predictions are counted in plain Python for the training metrics, class by class. Stacks on.

Truth: host-bound, in count_classes; counting on tensors, or rarely, would be the cure.
"""

import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE, CLASSES = 2, 2, 10, 12


def count_classes(predicted, wanted):
    right, seen, guessed = [0] * CLASSES, [0] * CLASSES, [0] * CLASSES
    for p, w in zip(predicted, wanted):
        seen[w] += 1
        guessed[p] += 1
        right[w] += p == w
    precision = [r / g if g else 0.0 for r, g in zip(right, guessed)]
    recall = [r / s if s else 0.0 for r, s in zip(right, seen)]
    return sum(2 * p * r / (p + r) if p + r else 0.0 for p, r in zip(precision, recall)) / CLASSES


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, y = torch.randn(4096, 64), torch.randint(0, CLASSES, (4096,))
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    optimizer = torch.optim.Adam(model.parameters())
    history = []
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while not watch.full():
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history.append(sum(count_classes(logits.argmax(1).tolist(), y.tolist()) for _ in range(8)) / 8)
            watch.step()
    watch.save("torch")


if __name__ == "__main__":
    main()
