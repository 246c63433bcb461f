# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel with two processes over gloo; the second has a slower disk. Truth: straggler, rank 1, by its
input. Fix: both read from the fast one. The stopwatch of rank r writes to FILE, and FILE.1."""

import os
import socket
import time

from watch import Watch

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

BATCH = 16


class Logs(Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 2 * BATCH * 200

    def __getitem__(self, n):
        time.sleep(self.seconds)  # the disk
        return torch.randn(512, generator=torch.Generator().manual_seed(n)), n % 5


def train(rank, port):
    watch = Watch(60)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo", RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 5))
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = Logs(0.002 if rank and not watch.fixed else 0.0001)
    loader = DataLoader(data, batch_size=BATCH, sampler=DistributedSampler(data, 2, rank, shuffle=False))
    watch.begins()
    for x, y in watch.input(loader):
        watch.fetched()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if watch.ended(loss.item()):
            break
    dist.barrier()
    if rank == 0:
        watch.save()
    elif watch.args.watch:
        watch.save(".1")
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    mp.spawn(train, args=(free_port(),), nprocs=2)
