# SPDX-License-Identifier: Apache-2.0
"""Captions: each step formats samples of its output and logs them, line by line. with_stack=True.

Truth: host-bound, in log_samples (make_samples and the logging after it). The data are in memory: make_samples prepares
text for a log, no input, and neither does logging.makeRecord.
"""

import logging

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 7
log = logging.getLogger("captions")


def make_samples(tokens):
    """Readable text of the most likely tokens."""
    return [" ".join(sorted(repr(row).split(", "), reverse=True)) for row in tokens]


def log_samples(step, logits):
    tokens = logits.topk(3000, dim=1).indices.tolist()
    for text in make_samples(tokens):
        log.info("step %d: %s", step, text)


def main():
    logging.basicConfig(filename="captions.log", level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(2048, 256), torch.randint(0, 4096, (2048,))), batch_size=16)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 4096))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for step, (images, words) in enumerate(loader):
            watch.fetched()
            optimizer.zero_grad()
            logits = model(images)
            nn.functional.cross_entropy(logits, words).backward()
            optimizer.step()
            with watch.timed("log_samples"):
                log_samples(step, logits.detach())
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
