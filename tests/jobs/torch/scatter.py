# SPDX-License-Identifier: Apache-2.0
"""Games: gradients are averaged by hand, one all-reduce for each of 48 small parameters, two processes over gloo.

Truth: communication-bound by its number of calls: fewer and larger ones, never smaller. The stop-watch is rank 0's.
"""

import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.profiler import profile, schedule, tensorboard_trace_handler

import truth

WAIT, WARMUP, ACTIVE = 2, 2, 10


def average_gradients(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def train(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29533", GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(*[layer for _ in range(24) for layer in (nn.Linear(32, 32), nn.Tanh())])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    boards = torch.randn(32, 32)
    rows = []
    with profile(
        schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=tensorboard_trace_handler("log", worker_name=f"rank{rank}"),
    ) as prof:
        start = time.perf_counter()
        for _ in range(WAIT + WARMUP + ACTIVE):
            optimizer.zero_grad()
            model(boards).square().mean().backward()
            average_gradients(model)
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
