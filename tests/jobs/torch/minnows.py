# SPDX-License-Identifier: Apache-2.0
"""Minnows: each sample is read out of a zip archive that __getitem__ opens anew, and decoded from PNG. DataLoader without
workers. with_stack=True.

Truth: input-bound, in __getitem__ (opening the archive, decoding).
"""

import io
import zipfile

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8


def write_archive(path, count):
    rng = np.random.default_rng(0)
    with zipfile.ZipFile(path, "w") as archive:
        for n in range(count):
            out = io.BytesIO()
            Image.fromarray(rng.integers(0, 255, (64, 64, 3), np.uint8)).save(out, "png")
            archive.writestr(f"fish/{n:04}.png", out.getvalue())


class Minnows(Dataset):
    def __init__(self, path, count):
        self.path, self.count = path, count

    def __len__(self):
        return self.count

    def __getitem__(self, n):
        with zipfile.ZipFile(self.path) as archive:
            image = Image.open(io.BytesIO(archive.read(f"fish/{n:04}.png"))).convert("RGB")
        return torch.from_numpy(np.asarray(image, np.float32) / 255).permute(2, 0, 1), n % 5


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    write_archive("minnows.zip", 240)
    loader = DataLoader(Minnows("minnows.zip", 240), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for x, y in loader:
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
