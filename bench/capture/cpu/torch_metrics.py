# SPDX-License-Identifier: Apache-2.0
"""Metrics for each sample after each step: .item() for every number, and a confusion table in Python. Truth:
host-bound. Fix: every twenty steps, and with one tolist()."""

import time

from watch import Watch

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 12


def update_metrics(table, logits, labels):
    for scores, label in zip(logits, labels):
        best = scores.topk(3).indices
        table[label.item()][best[0].item()] += 1
    hits = sum(table[n][n] for n in range(CLASSES))
    return hits / max(sum(map(sum, table)), 1)


def update_at_once(table, logits, labels):
    for label, best in zip(labels.tolist(), logits.argmax(1).tolist()):
        table[label][best] += 1


def main():
    watch = Watch(100)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, CLASSES))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = TensorDataset(torch.randn(120, 512, 256), torch.randint(0, CLASSES, (120, 512)))
    table = [[0] * CLASSES for _ in range(CLASSES)]
    watch.begins()
    for step, (x, y) in enumerate(watch.input(DataLoader(data, batch_size=None))):
        watch.fetched()
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        before = time.perf_counter()
        if not watch.fixed:
            update_metrics(table, logits, y)
        elif step % 20 == 0:
            update_at_once(table, logits, y)
        watch.add("metrics_s", time.perf_counter() - before)
        if watch.ended(loss.item()):
            break
    watch.save()


if __name__ == "__main__":
    main()
