# SPDX-License-Identifier: Apache-2.0
"""Scrolls: the samples are Python lists of numbers, read from JSON once; each step makes a tensor of its lists: torch.tensor(rows).
Stacks on.

Truth: input-bound: making the tensor of lists takes most of the step; store tensors or arrays once.
"""

import json
import random

import torch
from torch import nn

from stopwatch import StopWatch


def load(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def one_epoch(samples, model, optim, watch, bs=64):
    while True:
        random.shuffle(samples)
        for lo in range(0, len(samples) - bs, bs):
            chunk = samples[lo : lo + bs]
            feats = torch.tensor([s["feats"] for s in chunk])
            target = torch.tensor([s["y"] for s in chunk])
            watch.fetched()
            optim.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(model(feats).squeeze(1), target).backward()
            optim.step()
            if watch.step():
                return


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    with open("scrolls.jsonl", "w") as f:
        for _ in range(500):
            f.write(json.dumps({"feats": [round(random.random(), 4) for _ in range(1500)], "y": float(random.random() > 0.5)}) + "\n")
    model = nn.Linear(1500, 1)
    optim = torch.optim.SGD(model.parameters(), lr=0.1)
    with StopWatch(3, 2, 6, with_stack=True) as watch:
        one_epoch(load("scrolls.jsonl"), model, optim, watch)
    watch.save("torch")
