# SPDX-License-Identifier: Apache-2.0
"""Scrolls: a Dataset over lines of JSON, each parsed and turned into features when it is asked for; default DataLoader, no
stacks.

Truth: input-bound: the training process prepares the items itself.
"""

import json
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 12


class JsonLines(Dataset):
    def __init__(self, path):
        with open(path) as file:
            self.lines = file.readlines()

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, n):
        row = json.loads(self.lines[n])
        counts = [0.0] * 256
        for letter in row["text"]:
            counts[ord(letter)] += 1
        return torch.tensor(counts), row["stars"]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = random.Random(0)
    with open("scrolls.jsonl", "w") as file:
        for n in range(800):
            text = "".join(rng.choices("abcdefghij klmno", k=900))
            file.write(json.dumps({"text": text, "stars": n % 5}) + "\n")
    loader = DataLoader(JsonLines("scrolls.jsonl"), 32, shuffle=True, drop_last=True)
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 5))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for x, y in loader:
            watch.fetched()
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
