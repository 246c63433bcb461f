# SPDX-License-Identifier: Apache-2.0
"""Herbarium: WebDataset reads PNGs from a tar file and decodes them, one process. No stacks recorded.

Truth: input-bound; workers would help.
"""

import numpy as np
import torch
import webdataset
from torch import nn
from torch.utils.data import DataLoader

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 16


def write_tar(count):
    rng = np.random.default_rng(0)
    with webdataset.TarWriter("leaves.tar") as tar:
        for n in range(count):
            tar.write({"__key__": f"leaf{n:04}", "png": rng.random((96, 96, 3)), "cls": n % 8})


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    write_tar(160)
    leaves = webdataset.WebDataset("leaves.tar", shardshuffle=False).repeat()
    leaves = leaves.decode("torchrgb").to_tuple("png", "cls").batched(16)
    layers = [nn.Conv2d(3, 16, 5, 4), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 23 * 23, 8)]
    model = nn.Sequential(*layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for images, kinds in DataLoader(leaves, batch_size=None):
            watch.fetched()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), torch.as_tensor(kinds)).backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch", "webdataset")


if __name__ == "__main__":
    main()
