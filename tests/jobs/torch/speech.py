# SPDX-License-Identifier: Apache-2.0
"""Speech commands: spectra are computed in __getitem__, by a DataLoader without workers. No stacks recorded.

Truth: input-bound. The cure is workers, as many as there are cores for them; there is no device to pin memory for.
"""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 3, 2, 24


class Commands(Dataset):
    """Clips of one second, as log spectra."""

    def __len__(self):
        return 2048

    def __getitem__(self, i):
        wave = np.random.default_rng(i).standard_normal(16000, dtype=np.float32)
        frames = np.lib.stride_tricks.sliding_window_view(wave, 400)[::160] * np.hanning(400)
        return torch.from_numpy(np.log1p(np.abs(np.fft.rfft(frames))).astype(np.float32)), i % 30


def main():
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Flatten(), nn.Linear(98 * 201, 96), nn.ReLU(), nn.Linear(96, 30))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Commands(), batch_size=32, shuffle=True)
    with StopWatch(WAIT, WARMUP, ACTIVE) as watch:
        for spectra, labels in loader:
            watch.fetched()
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(spectra), labels)
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch", "numpy")


if __name__ == "__main__":
    main()
