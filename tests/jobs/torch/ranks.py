# SPDX-License-Identifier: Apache-2.0
"""Processes (two by default) that train together over gloo, without a GPU. The timer is rank 0's."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from stopwatch import StopWatch


def run_rank(rank, train, port, ranks, plan):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with StopWatch(*plan, worker_name=f"rank{rank}") as watch:
        train(rank, watch)
    if rank == 0:
        watch.save("torch")
    dist.barrier()
    dist.destroy_process_group()


def run_ranks(train, port, wait, warmup, active, ranks=2):
    """train(rank, watch) in each of them; it calls watch.step() after each of its steps until that is true."""
    mp.spawn(run_rank, args=(train, port, ranks, (wait, warmup, active)), nprocs=ranks)
