# SPDX-License-Identifier: Apache-2.0
"""Click logs: an IterableDataset parses lines of JSON, one process, with_stack=True.

Truth: input-bound, in parse_record. Workers alone would read each line once per worker: the data must be sharded.
"""

import json
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 12


def write_log(path, lines, width):
    rng = random.Random(0)
    with open(path, "w") as out:
        for n in range(lines):
            out.write(json.dumps({"label": n % 2, "values": [rng.random() for _ in range(width)]}) + "\n")


def parse_record(line):
    record = json.loads(line)
    return torch.tensor(record["values"]), record["label"]


class ClickLog(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as lines:
            for line in lines:
                yield parse_record(line)


def main():
    torch.set_num_threads(1)
    write_log("clicks.jsonl", 400, 3000)
    model = nn.Sequential(nn.Linear(3000, 256), nn.ReLU(), nn.Linear(256, 2))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
    loader = DataLoader(ClickLog("clicks.jsonl"), batch_size=12)
    handler = lambda p: p.export_chrome_trace("log/run.pt.trace.json")
    with StopWatch(WAIT, WARMUP, ACTIVE, on_trace_ready=handler, with_stack=True) as watch:
        for values, labels in loader:
            watch.fetched()
            loss = nn.functional.cross_entropy(model(values), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
