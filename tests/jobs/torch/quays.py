# SPDX-License-Identifier: Apache-2.0
"""Quays: each step asks a feature store over a socket for the rows of its batch, and waits for the answer. Stacks on.

Truth: input-bound, in fetch_features, which waits for the store: ask ahead, on another thread.
"""

import socket
import threading
import time

import numpy as np
import torch
from torch import nn

from stopwatch import StopWatch

WAIT, WARMUP, ACTIVE = 2, 2, 12
ROW = 64


def serve(listener):
    connection, _ = listener.accept()
    while keys := connection.recv(4096):
        time.sleep(0.012)  # the store looks its rows up
        connection.sendall(np.frombuffer(keys, np.uint32).astype(np.float32).repeat(ROW).tobytes())


def fetch_features(store, keys):
    store.sendall(keys.tobytes())
    rows = bytearray()
    while len(rows) < len(keys) * ROW * 4:
        rows += store.recv(65536)
    return torch.frombuffer(rows, dtype=torch.float32).view(len(keys), ROW) / 1e6


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    store = socket.create_connection(listener.getsockname())
    model = nn.Sequential(nn.Linear(ROW, 512), nn.ReLU(), nn.Linear(512, ROW))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    rng = np.random.default_rng(0)
    with StopWatch(WAIT, WARMUP, ACTIVE, with_stack=True) as watch:
        while True:
            x = fetch_features(store, rng.integers(0, 1 << 20, 48, np.uint32))
            watch.fetched()
            loss = nn.functional.mse_loss(model(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if watch.step():
                break
    watch.save("torch")


if __name__ == "__main__":
    main()
