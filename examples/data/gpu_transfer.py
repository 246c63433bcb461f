# SPDX-License-Identifier: Apache-2.0
"""How fast batches reach a GPU: through to_device, compared with the limit of one pinned copy.

The limit is a loop of cudaMemcpyAsync from one pinned buffer: no pipeline can be faster. "before" is what a loop does
without staging: a batch in ordinary memory, copied when requested. Needs an NVIDIA GPU and torch with CUDA, for
measuring; to_device itself needs neither.
"""

import sys

import numpy as np
import stoker.data as sd


SIZES = (1, 8, 64)  # MB of a batch


def why_not():
    """Why it can't run here; None: it can."""
    try:
        n = sd._engine.devices()
    except sd.errors.NotFoundError as e:
        return f"no GPU: {e}"
    if n == 0:
        return "the CUDA driver sees no GPU"
    try:
        import torch
    except ImportError as e:
        return f"there is a GPU, but torch, which measures here, is not installed: {e}"
    if not torch.cuda.is_available():
        return "there is a GPU, but this torch was built without CUDA"
    return None


def pipeline(megabytes, count):
    """Batches of bytes that cost nothing to make: one slice, repeated."""
    rows = np.zeros((megabytes << 10, 1024), np.uint8)
    ds = sd.Dataset.from_tensor_slices(rows).repeat().batch(len(rows), drop_remainder=True)
    return ds.take(count)


def pinned_limit(megabytes, count):
    """Bytes per second of `count` asynchronous copies from one pinned buffer."""
    import torch

    host = torch.empty(megabytes << 20, dtype=torch.uint8, pin_memory=True)
    device = torch.empty_like(host, device="cuda:0")
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    device.copy_(host, non_blocking=True)
    torch.cuda.synchronize()
    start.record()
    for _ in range(count):
        device.copy_(host, non_blocking=True)
    end.record()
    torch.cuda.synchronize()
    return count * (megabytes << 20) / (start.elapsed_time(end) / 1e3)


def passed(batches, megabytes):
    """Bytes per second from the first batch on; the device reads each one by a sum."""
    import time
    import torch

    total, n, start = None, 0, None
    for batch in batches:
        x = batch if isinstance(batch, torch.Tensor) else torch.from_dlpack(batch)
        part = x.view(torch.int64).sum()
        total = part if total is None else total + part
        n += 1
        if start is None:
            torch.cuda.synchronize()
            start = time.perf_counter()
    torch.cuda.synchronize()
    return (n - 1) * (megabytes << 20) / (time.perf_counter() - start)


def before(megabytes, count):
    """Ordinary memory, copied when requested."""
    import torch

    return passed(
        (torch.from_numpy(b).to("cuda:0") for b in pipeline(megabytes, count)), megabytes
    )


def after(megabytes, count):
    """to_device: pinned memory, copied ahead."""
    return passed(pipeline(megabytes, count).to_device("cuda:0", depth=3), megabytes)


IMAGES = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}


def images(count, on_device):
    """Images per second, batches of 64 of 224 x 224: normalized on the CPU, or after the copy."""
    import time
    import torch

    rule = sd.Normalize(**IMAGES)
    rows = np.zeros((64, 224, 224, 3), np.uint8)
    ds = sd.Dataset.from_tensor_slices(rows).repeat().batch(64, drop_remainder=True).take(count)
    if not on_device:
        ds = ds.map(lambda x: sd.cast(x, "float32") * rule.scale + rule.offset, sd.AUTOTUNE)
        as_written = sd.Options()
        as_written.rewrites = False  # otherwise the arithmetic would be deferred to the device
        ds = ds.with_options(as_written)
    batches = ds.to_device("cuda:0", depth=3, normalize=rule if on_device else None)
    n, start, total = 0, None, None
    for batch in batches:
        part = torch.from_dlpack(batch).sum()
        total = part if total is None else total + part
        n += 1
        if start is None:
            torch.cuda.synchronize()
            start = time.perf_counter()
    torch.cuda.synchronize()
    return (n - 1) * 64 / (time.perf_counter() - start)


def is_right():
    """Checks that what arrives is what was sent, in every epoch, with keep and without."""
    rows = np.arange(1 << 20, dtype=np.int64).reshape(1024, 1024)
    ds = sd.Dataset.from_tensor_slices(rows).map(lambda x: x * 3).batch(100)
    for keep in (False, True):
        on_device = ds.to_device("cuda:0", keep=keep)
        for _ in range(3):
            got = np.concatenate([b.numpy() for b in on_device])
            if not np.array_equal(got, rows * 3):
                return False
    return True


def main():
    is_small = "--small" in sys.argv
    reason = why_not()
    print(__doc__.split("\n")[0])
    if reason:
        print(f"  skipped: {reason}")
        return 0
    import torch

    print(f"  {torch.cuda.get_device_name(0)}, torch {torch.__version__}")
    if not is_right():
        print("  WRONG: what arrives is not what was sent")
        return 1
    print("  values: right")
    for megabytes in SIZES[:1] if is_small else SIZES:
        count = max(20, (64 if is_small else 4096) // megabytes)
        limit = pinned_limit(megabytes, count)
        for part in (before, after):
            rate = part(megabytes, count)
            what = part.__doc__.split("\n")[0].rstrip(".")
            print(
                f"  {megabytes:3} MB {part.__name__:<7} {rate / 1e9:7.2f} GB/s"
                f" {rate / limit:5.0%} of the limit of {limit / 1e9:.2f} GB/s   {what}"
            )
    for on_device in (False, True):
        rate = images(20 if is_small else 400, on_device)
        print(f"  images normalised on the {'device' if on_device else 'host  '} {rate:9,.0f} images/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
