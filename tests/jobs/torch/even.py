# SPDX-License-Identifier: Apache-2.0
"""Names: DistributedDataParallel of two processes over gloo, no GPU, equal work; many parameters, little to compute.

Truth: communication-bound: neither rank is late, the all-reduces themselves take the time. All ranks are given. The
stop-watch is rank 0's.
"""

import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import profile, schedule, tensorboard_trace_handler

import truth

WAIT, WARMUP, ACTIVE = 2, 2, 20


def train(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29532", GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(512, 4096), nn.ReLU(), nn.Linear(4096, 1024)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    names, wanted = torch.randn(8, 512), torch.randn(8, 1024)
    rows = []
    with profile(
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=tensorboard_trace_handler("log", worker_name=f"rank{rank}"),
    ) as prof:
        start = time.perf_counter()
        for _ in range(WAIT + WARMUP + ACTIVE):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(names), wanted).backward()
            optimizer.step()
            done = time.perf_counter()
            prof.step()
            rows.append((start, start, done))
            start = time.perf_counter()
    if rank == 0:
        truth.save(rows, WAIT + WARMUP, ACTIVE, ["torch"])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
