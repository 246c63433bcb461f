# SPDX-License-Identifier: Apache-2.0
"""Skeins: an IterableDataset in webdataset's style: tars of samples (an array that is compressed, a label as JSON), grouped by
key, decoded, shuffled in a buffer; no workers. Stacks on.

Truth: input-bound, in read_tar and decode_sample; workers would each take some of the tars.
"""

import io
import json
import random
import tarfile
import zlib

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 10


def write_tars(count, each):
    rng = np.random.default_rng(0)
    for n in range(count):
        with tarfile.open(f"skein-{n:03}.tar", "w") as tar:
            for k in range(each):
                pixels = zlib.compress(rng.integers(0, 32, 12288, np.uint8).tobytes())
                for kind, data in (("bin", pixels), ("json", json.dumps({"label": k % 8}).encode())):
                    info = tarfile.TarInfo(f"{n:03}{k:05}.{kind}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
    return [f"skein-{n:03}.tar" for n in range(count)]


def read_tar(path):
    sample = {}
    with tarfile.open(path) as tar:
        for member in tar:
            key, kind = member.name.split(".")
            if sample and sample["key"] != key:
                yield sample
                sample = {}
            sample |= {"key": key, kind: tar.extractfile(member).read()}
    yield sample


def decode_sample(sample):
    pixels = np.frombuffer(zlib.decompress(sample["bin"]), np.uint8)
    return torch.from_numpy(pixels.astype(np.float32) / 32), json.loads(sample["json"])["label"]


class TarSamples(IterableDataset):
    def __init__(self, paths, buffer=16):
        self.paths, self.buffer, self.rng = paths, buffer, random.Random(0)

    def __iter__(self):
        held = []
        while True:
            for path in self.paths:
                for sample in map(decode_sample, read_tar(path)):
                    held.append(sample)
                    if len(held) > self.buffer:
                        yield held.pop(self.rng.randrange(len(held)))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(TarSamples(write_tars(4, 40)), batch_size=16)
    model = nn.Sequential(nn.Linear(12288, 64), nn.ReLU(), nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
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
