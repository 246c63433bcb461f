# SPDX-License-Identifier: Apache-2.0
"""Small data-parallel jobs over gloo, one after the other, in each of which one rank may be made late.

Usage: gloo_train.py FOLDER JOBS. JOBS: a JSON list of {"ranks", "rank", "where", "late_ms"}, where: input, forward, backward, gc or
none. The processes of job k meet through a file in FOLDER/k, and each writes FOLDER/k/job/rankN.pt.trace.json. PyTorch is loaded
once, and a job's processes are forked. Needs PyTorch with gloo.
"""
import gc
import json
import multiprocessing
import pathlib
import sys
import time

import torch
import torch.distributed as dist

WAIT, WARMUP, STEPS = 1, 1, 8  # of the profiler's schedule
BATCH, WIDTH, LAYERS = 16, 512, 4
GARBAGE_EVERY = 2  # steps between two collections, which then take as much longer


class Late(torch.nn.Module):
    """A layer that passes on what it gets, late: in its forward or in its backward."""

    def __init__(self, forward_s, backward_s):
        super().__init__()
        self.forward_s, self.backward_s = forward_s, backward_s

    def forward(self, x):
        time.sleep(self.forward_s)
        if self.backward_s:
            x.register_hook(self.wait)
        return x

    def wait(self, grad):
        time.sleep(self.backward_s)
        return grad


class Garbage:
    """Collects every few steps, as a program with many objects does; slow where finalizers are."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __del__(self):
        time.sleep(self.seconds)


class Samples(torch.utils.data.Dataset):
    def __init__(self, late_s):
        self.late_s = late_s

    def __len__(self):
        return BATCH * (WAIT + WARMUP + STEPS + 2)

    def __getitem__(self, i):
        if self.late_s and i % BATCH == 0:
            time.sleep(self.late_s)
        return torch.randn(WIDTH), torch.randn(WIDTH)


def collect(step, late_s):
    if step % GARBAGE_EVERY == 0:
        ring = [Garbage(GARBAGE_EVERY * late_s)]
        ring.append(ring)
        del ring
        gc.collect()


def train(folder, rank, job):
    late_s = job["late_ms"] / 1000 if rank == job["rank"] else 0
    late = {name: late_s if job["where"] == name else 0 for name in ("input", "forward", "backward", "gc")}
    torch.set_num_threads(1)
    gc.disable()  # only the collections below
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=job["ranks"])
    layers = [torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()) for _ in range(LAYERS)]
    layers.insert(LAYERS // 2, Late(late["forward"], late["backward"]))
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = torch.utils.data.DataLoader(Samples(late["input"]), batch_size=BATCH)
    schedule = torch.profiler.schedule(wait=WAIT, warmup=WARMUP, active=STEPS, repeat=1)
    path = str(folder / "job" / f"rank{rank}.pt.trace.json")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=schedule,
                                on_trace_ready=lambda p: p.export_chrome_trace(path)) as profiler:
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            collect(step, late["gc"])
            profiler.step()
    dist.barrier()
    dist.destroy_process_group()


def main():
    fork = multiprocessing.get_context("fork")
    bad = 0
    for k, job in enumerate(json.loads(sys.argv[2])):
        folder = pathlib.Path(sys.argv[1]) / str(k)
        (folder / "job").mkdir(parents=True)
        ranks = [fork.Process(target=train, args=(folder, rank, job)) for rank in range(job["ranks"])]
        for p in ranks:
            p.start()
        for p in ranks:
            p.join()
        bad += any(p.exitcode for p in ranks)
    return bad


sys.exit(main())
