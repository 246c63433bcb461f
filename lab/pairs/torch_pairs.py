# SPDX-License-Identifier: Apache-2.0
"""Pairs of PyTorch on the host: what alternate.py runs."""

import io
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import alternate
from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 1, 3, 20


class Samples(Dataset):
    """Samples that take passes over 64 KB of numbers, and a wait for a store."""

    def __init__(self, passes=0, wait_s=0.0):
        self.passes, self.wait_s = passes, wait_s
        self.raw = np.random.default_rng(0).standard_normal((64, 16384), np.float32)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, at):
        raw = self.raw[at % 64]
        for _ in range(self.passes):
            raw = np.tanh(raw * 1.01)
        if self.wait_s:
            time.sleep(self.wait_s)
        return torch.from_numpy(raw[:256].copy()), torch.tensor(float(at % 2))


def batches(samples, workers=0, constant=False):
    loader = DataLoader(samples, batch_size=16, num_workers=workers)
    if not constant:
        yield from loader
    batch = next(iter(DataLoader(samples, batch_size=16)))
    while True:
        yield batch


def train(data, width=512, after=None):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step, (x, y) in enumerate(data):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
        if after:
            after(step, model)
        yield


def augmented(changed):
    """Samples are worked on in the training process; changed: one constant batch."""
    return train(batches(Samples(passes=6), constant=changed))


def starved(changed):
    """One worker is too slow for the model; changed: one constant batch."""
    return train(batches(Samples(passes=60), workers=0 if changed else 1, constant=changed))


def remote(changed):
    """Samples wait for a store, in the training process; changed: one worker waits."""
    return train(batches(Samples(wait_s=0.002), workers=int(changed)))


def decoded(changed):
    """Samples are worked on in the training process; changed: one worker does, on the other core."""
    return train(batches(Samples(passes=16), workers=int(changed)))


def halved(changed):
    """Samples are worked on in the training process; changed: half of the work."""
    return train(batches(Samples(passes=12 if changed else 24)))


def gauges(changed):
    """Norms and histograms of all weights after each step; changed: after every tenth."""

    def report(step, model):
        if not changed or step % 10 == 0:
            for weights in model.parameters():
                torch.histc(weights.detach(), 64).tolist()
                torch.sort(weights.detach().flatten())
                weights.detach().norm().item()

    return train(batches(Samples(passes=1)), after=report)


def saves(changed):
    """The weights are saved after each step; changed: after every tenth."""

    def save(step, model):
        if not changed or step % 10 == 0:
            torch.save(model.state_dict(), io.BytesIO())

    return train(batches(Samples(passes=1)), after=save)


def record(arm):
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        next(arm)
        while not watch.step():
            next(arm)


PAIRS = {f.__name__: f for f in (augmented, starved, remote, decoded, halved, gauges, saves)}

if __name__ == "__main__":
    torch.set_num_threads(1)
    alternate.main(PAIRS, record, "torch")
