# SPDX-License-Identifier: Apache-2.0
"""Tremolos: a Dataset of audio: each item is cut from a wave file, its spectrum computed with torch.stft and brought to mel bands;
num_workers=0, no stacks.

Truth: input-bound, in the dataset's items, which the training process prepares itself.
"""

import wave

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 8
RATE = 16000


class Clips(Dataset):
    def __init__(self, path):
        self.path, self.window = path, torch.hann_window(512)
        self.bands = torch.rand(40, 257)

    def __len__(self):
        return 512

    def __getitem__(self, n):
        with wave.open(self.path) as file:
            file.setpos((n * 771) % (file.getnframes() - RATE))
            samples = np.frombuffer(file.readframes(RATE), np.int16)
        x = torch.from_numpy(samples.astype(np.float32) / 32768)
        power = torch.stft(x, 512, 160, window=self.window, return_complex=True).abs().square()
        return torch.log1p(self.bands @ power), n % 5


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with wave.open("tremolos.wav", "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(np.random.default_rng(0).integers(-3000, 3000, 20 * RATE, np.int16).tobytes())
    loader = DataLoader(Clips("tremolos.wav"), batch_size=8, shuffle=True)
    model = nn.Sequential(nn.Conv1d(40, 64, 5, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
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
