# SPDX-License-Identifier: Apache-2.0
"""Small PyTorch jobs, each with one switch: on, the fault is there; off, it isn't. `SWITCHES` maps a name to the
what-if that removes the fault and a function of (device, fault) that yields after each step. `record` writes a profile.
Limits: the same loops also run on a CPU, which only shows that they work."""

import torch
from torch import nn


def train(device, batches, make, dtype=None, chain=0, reads=False, fused=False, graphs=False):
    torch.manual_seed(0)
    model = make().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def after(x):
        for _ in range(chain):
            x = torch.tanh(x * 1.01 + 0.1)
        return x

    if fused:
        after = torch.compile(after)
    if graphs:
        model = torch.compile(model, mode="reduce-overhead")
    for x in batches:
        x = x.to(device, non_blocking=x.is_pinned()) if x.device != torch.device(device) else x
        with torch.autocast(torch.device(device).type, dtype or torch.float32, enabled=dtype is not None):
            loss = after(model(x)).float().square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if reads:
            float(loss)
        yield


def perceptron(width, depth=2):
    return lambda: nn.Sequential(*(part for _ in range(depth) for part in (nn.Linear(width, width), nn.ReLU())))


def constant(shape, device):
    batch = torch.randn(shape, device=device)
    while True:
        yield batch


def made(shape, passes):
    while True:
        batch = torch.randn(shape)
        for _ in range(passes):
            batch = torch.tanh(batch)
        yield batch


def copied(shape, pin):
    batch = torch.randn(shape)
    batch = batch.pin_memory() if pin else batch
    while True:
        yield batch


def input_stall(device, fault):
    shape = (256, 1024)
    return train(device, made(shape, 20) if fault else constant(shape, "cpu"), perceptron(1024, 4))


def pageable_copy(device, fault):
    pin = not fault and torch.device(device).type == "cuda"
    return train(device, copied((4096, 2048), pin), perceptron(2048))


def launches(device, fault):
    return train(device, constant((16, 64), device), perceptron(64, 40), graphs=not fault)


def full_precision(device, fault):
    return train(device, constant((4096, 2048), device), perceptron(2048, 6), dtype=None if fault else torch.bfloat16)


def unfused_chain(device, fault):
    return train(device, constant((4096, 2048), device), perceptron(2048, 1), chain=24, fused=not fault)


def hidden_sync(device, fault):
    return train(device, constant((512, 512), device), perceptron(512, 8), reads=fault)


def slow_samples(shape, passes):
    """A dataset whose samples take CPU time; a loader reads it."""

    class Samples(torch.utils.data.IterableDataset):
        def __iter__(self):
            torch.set_num_threads(1)
            while True:
                x = torch.randn(shape)
                for _ in range(passes):
                    x = torch.tanh(x)
                yield x

    return Samples()


def one_process(device, fault):
    """One worker prepares ahead, or none: the input costs less than the step."""
    loader = torch.utils.data.DataLoader(slow_samples((512, 2048), 4), batch_size=None, num_workers=0 if fault else 1)
    return train(device, loader, perceptron(2048, 24))


def in_one_stream(device, fault):
    """Batches in pinned memory, copied in the kernels' stream, or one step ahead in a separate stream."""
    host = torch.randn((16384, 2048)).pin_memory()

    def ahead():
        side, now = torch.cuda.Stream(), torch.cuda.current_stream()
        ready = host.to(device, non_blocking=True)
        while True:
            x = ready
            with torch.cuda.stream(side):
                ready = host.to(device, non_blocking=True)
            yield x
            now.wait_stream(side)
            ready.record_stream(now)

    return train(device, copied((16384, 2048), True) if fault else ahead(), perceptron(2048, 3))


def no_tf32(device, fault):
    def arm():
        torch.backends.cuda.matmul.allow_tf32 = not fault
        job = train(device, constant((8192, 2048), device), perceptron(2048, 6))
        while True:
            torch.backends.cuda.matmul.allow_tf32 = not fault
            next(job)
            yield

    return arm()


def kept_on_host(device, fault):
    """Copies the same large table in each step, or keeps a copy on the device."""
    table = torch.randn((8192, 2048))
    return train(device, constant((8192, 2048), device) if not fault else iter(lambda: table, None), perceptron(2048, 4))


SWITCHES = {
    "G1": ("input-free", input_stall),
    "G2": ("transfer-pinned", pageable_copy),
    "G3": ("launch-graph", launches),
    "G4": ("precision=bf16", full_precision),
    "G5": ("fuse", unfused_chain),
    "G6": ("no-sync", hidden_sync),
    "G7": ("input-overlap", one_process),
    "G8": ("transfer-overlap", in_one_stream),
    "G9": ("precision=tf32", no_tf32),
    "G10": ("data-on-device", kept_on_host),
}


def devices():
    """The GPU to measure on, and its name; or None."""
    return ("cuda", torch.cuda.get_device_name(0)) if torch.cuda.is_available() else None


def settle(device):
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()


def record(arm, steps, folder):
    from torch.profiler import ProfilerActivity, profile, schedule

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])
    path = str(folder / "job.pt.trace.json")
    with profile(activities=activities, schedule=schedule(wait=1, warmup=3, active=steps), record_shapes=True,
                 on_trace_ready=lambda p: p.export_chrome_trace(path)) as p:
        for _ in range(4 + steps):
            next(arm)
            p.step()
    return path


def version():
    return f"torch {torch.__version__}"
