# SPDX-License-Identifier: Apache-2.0
"""Murals: images that PIL reads from files and makes small, in a DataLoader without workers. with_stack=True.

Truth: input-bound, in load_mural: decoding and resizing.
"""

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 1, 7


def write_murals(count):
    rng = np.random.default_rng(0)
    for n in range(count):
        Image.fromarray(rng.integers(0, 255, (480, 640, 3), np.uint8)).save(f"mural{n}.jpg")


def load_mural(path):
    image = Image.open(path).convert("RGB").resize((64, 64))
    return torch.from_numpy(np.asarray(image).transpose(2, 0, 1).astype(np.float32) / 255)


class Murals(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, i):
        return load_mural(f"mural{i % 16}.jpg"), i % 3


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    write_murals(16)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.AdaptiveMaxPool2d(4), nn.Flatten(), nn.Linear(256, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        for murals, styles in DataLoader(Murals(), batch_size=4, shuffle=True):
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(murals), styles).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch", "pillow")


if __name__ == "__main__":
    main()
