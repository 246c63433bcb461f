# SPDX-License-Identifier: Apache-2.0
"""A job of PyTorch on the CPU, with the names that the rules' snippets take for granted."""

import functools
import os
import threading
import zipfile

import jobs
import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, WeightedRandomSampler

if not torch.distributed.is_initialized():
    torch.distributed.init_process_group("gloo", init_method=f"file://{os.getcwd()}/ranks", rank=0, world_size=1)


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        """Of a number, or of all numbers of a batch."""
        rows = torch.as_tensor(i, dtype=torch.float32)[..., None]
        return rows.expand(*rows.shape[:-1], 8), rows


def world(code):
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batch = next(iter(DataLoader(Squares(), batch_size=4)))
    if "channels_last" in code:
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.LazyLinear(1))
        batch = [torch.ones(4, 3, 8, 8)]
    loss = model(batch[0]).mean()
    loss.backward(retain_graph=True)

    def train_step(batch):
        optimizer.zero_grad()
        out = model(batch[0]).mean()
        out.backward()
        optimizer.step()
        return out

    return {
        "torch": torch, "os": os, "threading": threading, "DataLoader": DataLoader, "BatchSampler": BatchSampler, "RandomSampler": RandomSampler, "read": lambda path: [path] * 3,
        "DistributedDataParallel": DistributedDataParallel, "dataset": Squares(), "ds": Squares(), "lr": 1e-3, "batch_size": 4, "workers": 2,
        "loader": DataLoader(Squares(), batch_size=4), "model": DistributedDataParallel(model) if "no_sync" in code else model, "optimizer": optimizer, "batch": batch[0],
        "loss": loss, "losses": [torch.zeros(8)] * 4, "total": torch.zeros(()), "step": 1000, "device": "cpu",
        "train_step": train_step, "x": batch[0], "mask": batch[0] > 0, "host": torch.empty(4, 8),
        "loss_of": lambda b: model(b[0]).mean(), "first_batches": [batch], "last_batch": batch,
        "nn": torch.nn, "inputs": 8, "hidden": 4, "parts": [torch.ones(8)] * 3, "w": torch.ones(8, 2), "layer": torch.nn.Linear(8, 2),
        "parameters": list(model.parameters()), "kept": [p.detach().clone() for p in model.parameters()],
        "WeightedRandomSampler": WeightedRandomSampler, "weights": torch.ones(64),
        "functools": functools, "zipfile": zipfile, "images": torch.rand(4, 3, 8, 8), "log": lambda value: None, "profile": torch.profiler.profile, "ProfilerActivity": torch.profiler.ProfilerActivity,
    }


def use_iter(names):
    """An IterableDataset with it gives each element once, with any number of workers."""
    data = type("Lines", (torch.utils.data.IterableDataset,), {"__iter__": names["__iter__"], "paths": list("abcde")})()
    given = sorted(x for batch in DataLoader(data, batch_size=2, num_workers=2) for x in batch)
    if given != sorted(list("abcde") * 3):
        raise ValueError(f"the workers gave {given}")


def use(names, made):
    if "__iter__" in made:
        use_iter(names)
    if "loader" in made:
        given = sum(len(batch[0]) for batch in names["loader"])
        if given != len(Squares()):
            raise ValueError(f"the loader gave {given} elements of {len(Squares())}")
    if "model" in made:
        model = names["model"]
        compiled = hasattr(model, "_orig_mod")
        (model._orig_mod if compiled else model)(names["x"]).mean().backward()
    if "optimizer" in made:
        names["optimizer"].step()
    if "save_later" in made:
        for t in threading.enumerate():
            if t is not threading.current_thread() and not t.daemon:
                t.join()
        torch.load("checkpoint.pt")
    if "worker_init_fn" in str(made.get("loader")) or "stoker" in made:
        if not os.listdir("stoker_workers"):
            raise ValueError("the workers recorded nothing")


if __name__ == "__main__":
    jobs.main(world, {"torch": torch}, use)
