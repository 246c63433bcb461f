# SPDX-License-Identifier: Apache-2.0
"""Pairs of PyTorch jobs on the CPU, run by alternate.py."""

import io
import time
import zlib

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

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


class Packed(Dataset):
    """Images that are decoded and downscaled."""

    def __init__(self):
        images = np.random.default_rng(0).integers(0, 60, (32, 3, 96, 96), np.uint8)
        self.packed = [zlib.compress(image.tobytes()) for image in images]

    def __len__(self):
        return 1 << 20

    def __getitem__(self, at):
        image = np.frombuffer(zlib.decompress(self.packed[at % 32]), np.uint8).reshape(3, 96, 96)
        return torch.from_numpy(image[:, ::3, ::3].astype(np.float32) / 60), torch.tensor(float(at % 2))


class Lines(IterableDataset):
    """Lines of text, read one after the other from a slow store, counted word by word."""

    def __init__(self, words, wait_s=0.0):
        self.words, self.wait_s = words, wait_s

    def __iter__(self):
        text = " ".join(f"w{at * 7919 % 997}" for at in range(self.words))
        for at in range(1 << 20):
            if self.wait_s:
                time.sleep(self.wait_s)
            counts = torch.zeros(256)
            for word in text.split():
                counts[hash(word) % 256] += 1
            yield counts, torch.tensor(float(at % 2))


def batches(samples, workers=0, constant=False):
    loader = DataLoader(samples, batch_size=16, num_workers=workers)
    if not constant:
        yield from loader
    batch = next(iter(DataLoader(samples, batch_size=16)))
    while True:
        yield batch


def dense(width):
    return nn.Sequential(nn.Linear(256, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))


def convolutions():
    layers = [nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 1))


def train(data, width=512, after=None, make=dense):
    torch.manual_seed(0)
    model = make(width) if make is dense else make()
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
    """The training process prepares the samples; changed: one constant batch."""
    return train(batches(Samples(passes=6), constant=changed))


def starved(changed):
    """One worker is too slow for the model; changed: one constant batch."""
    return train(batches(Samples(passes=60), workers=0 if changed else 1, constant=changed))


def remote(changed):
    """The training process waits for a store for each sample; changed: one worker waits."""
    return train(batches(Samples(wait_s=0.002), workers=int(changed)))


def decoded(changed):
    """The training process prepares the samples; changed: one worker does, on the other core."""
    return train(batches(Samples(passes=16), workers=int(changed)))


def halved(changed):
    """The training process prepares the samples; changed: half of the work."""
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


def unpacked(changed):
    """The training process decodes images for a small convolutional net; changed: one constant batch."""
    return train(batches(Packed(), constant=changed), make=convolutions)


def helped(changed):
    """One worker prepares the samples; changed: half of the work."""
    return train(batches(Samples(passes=20 if changed else 40), workers=1))


def counted(changed):
    """The training process counts words in Python; changed: one constant batch."""
    return train(batches(Lines(40), constant=changed))


def streamed(changed):
    """Lines come one by one from a slow store; changed: one worker reads them."""
    return train(batches(Lines(4, wait_s=0.001), workers=int(changed)))


def wide(changed):
    """The model takes much longer than its input; changed: one constant batch."""
    return train(batches(Samples(passes=4), constant=changed), width=1536)


def judged(changed):
    """Runs the model on a separate batch after each step; changed: after every tenth."""
    held = torch.randn(512, 256)

    def judge(step, model):
        if not changed or step % 10 == 0:
            with torch.no_grad():
                model(held).sort(dim=0)

    return train(batches(Samples(passes=1)), after=judge)


def record(arm):
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        next(arm)
        while not watch.step():
            next(arm)


SEEN = (augmented, starved, remote, decoded, halved, gauges, saves)
HELD = (unpacked, helped, counted, streamed, wide, judged)
PAIRS = {f.__name__: f for f in (*SEEN, *HELD)}

if __name__ == "__main__":
    torch.set_num_threads(1)
    alternate.main(PAIRS, record, "torch")
