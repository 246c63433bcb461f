# SPDX-License-Identifier: Apache-2.0
"""Speech commands: spectra are computed in __getitem__, by a DataLoader without workers. No stacks recorded.

Truth: input-bound. The cure is workers, as many as there are cores for them; there is no device to pin memory for.
"""

import time

import numpy as np
import torch
from torch import nn
from torch.profiler import profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset

import truth

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
    rows = []
    with profile(
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=tensorboard_trace_handler("log"),
    ) as prof:
        start = time.perf_counter()
        for spectra, labels in loader:
            fetched = time.perf_counter()
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(spectra), labels)
            loss.backward()
            optimizer.step()
            done = time.perf_counter()
            prof.step()
            rows.append((start, fetched, done))
            if len(rows) == WAIT + WARMUP + ACTIVE:
                break
            start = time.perf_counter()
    truth.save(rows, WAIT + WARMUP, ACTIVE, ["torch", "numpy"])


if __name__ == "__main__":
    main()
