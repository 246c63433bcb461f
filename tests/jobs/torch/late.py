# SPDX-License-Identifier: Apache-2.0
"""Documents: DistributedDataParallel of two processes over gloo, no GPU; one of them has the longer documents.

Truth: straggler, rank 1. Rank 0 waits for it in the all-reduce of every step; smaller buckets, or another network,
would change nothing. The stop-watch is rank 0's.
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
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29531", GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    words = 96 if rank == 0 else 400
    rows = []
    with profile(
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=tensorboard_trace_handler("log", worker_name=f"rank{rank}"),
    ) as prof:
        start = time.perf_counter()
        for _ in range(WAIT + WARMUP + ACTIVE):
            documents, labels = torch.randn(16, words, 256), torch.randint(0, 8, (16,))
            fetched = start  # nothing is fetched
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(documents).mean(1), labels).backward()
            optimizer.step()
            done = time.perf_counter()
            prof.step()
            rows.append((start, fetched, done))
            start = time.perf_counter()
    if rank == 0:
        truth.save(rows, WAIT + WARMUP, ACTIVE, ["torch"])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
