# SPDX-License-Identifier: Apache-2.0
"""to_device and to_torch on a real GPU: values, streams, keeping, full memory. By hand:

    PYTHONPATH=build/release/python python tests/gpu/staging.py

Needs an NVIDIA GPU and torch with CUDA; says what it lacks and ends well where they are not. The same
promises are tested everywhere against a fake driver (tests/unit/stager.c, tests/py/test_device.py).
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / p) for p in ("py", "../examples/data")]

import numpy as np  # noqa: E402

import checks as c  # noqa: E402
import gpu_transfer  # noqa: E402
import stoker.data as sd  # noqa: E402

ROWS = np.arange(400_000, dtype=np.float32).reshape(4000, 100)


def dataset(batch=250):
    return sd.Dataset.from_tensor_slices((ROWS, np.arange(4000))).map(lambda x, y: (x + 1, y)).batch(batch)


def test_values():
    for depth in (1, 2, 8):
        seen = 0
        for x, y in dataset().to_device("cuda:0", depth=depth):
            c.same(x.numpy(), ROWS[seen : seen + 250] + 1)
            c.same(y.numpy(), np.arange(seen, seen + 250))
            seen += 250
        c.same(seen, 4000)


def test_torch_streams():
    """Sums on a stream of its own, batches released at once: each must be of its own batch."""
    import torch

    stream, sums = torch.cuda.Stream(), []
    with torch.cuda.stream(stream):
        for x, _ in dataset(100).to_torch(device="cuda:0"):
            busy = torch.randn(1500, 1500, device="cuda:0")
            sums.append((busy @ busy).sum() * 0 + x.double().sum())
            del x
    torch.cuda.synchronize()
    want = [(ROWS[i : i + 100].astype("f8") + 1).sum() for i in range(0, 4000, 100)]
    c.true(np.allclose([float(s) for s in sums], want), "sums")


def test_pinned():
    import torch

    x, _ = next(iter(dataset().to_torch(pin_memory=True)))
    c.true(x.is_pinned(), "a large batch is made in pinned memory")
    c.true(torch.equal(x.to("cuda:0", non_blocking=True).cpu(), x), "and copies")


def test_keep():
    kept = dataset().to_device("cuda:0", keep=True)
    first, second = list(kept), list(kept)
    c.true(all(a[0] is b[0] for a, b in zip(first, second)), "the same arrays")
    c.same(np.concatenate([x.numpy() for x, _ in second]), ROWS + 1)


def test_normalize():
    """Kernels give the bits of the host: all bytes, layouts, sizes around a thread's and a block's."""
    rng = np.random.default_rng(2)
    shapes = [(1, 1, 1), (3, 5, 3), (16, 16, 3), (17, 64, 4), (32, 32, 1), (9, 7, 13), (224, 224, 3)]
    for shape in shapes:
        x = rng.integers(0, 256, (40, *shape), np.uint8)
        mean, std = rng.uniform(0, 1, shape[-1]), rng.uniform(0.1, 1, shape[-1])
        ds = sd.Dataset.from_tensor_slices(x).shuffle(40, seed=1, reshuffle_each_iteration=False).batch(16)
        for rule in ((mean, std), (0.5, 0.25), sd.Normalize(mean, std, planar=True)):
            for a, b in zip(ds.to_device("cuda:0", normalize=rule), ds.to_device("cpu", normalize=rule)):
                a = a.numpy()
                same = a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
                c.true(same, f"{shape} {rule}")


def test_normalize_in_torch():
    """A training step's view: planes on its stream, while the next ones are made."""
    import torch

    x = np.random.default_rng(3).integers(0, 256, (256, 64, 64, 3), np.uint8)
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    ds = sd.Dataset.from_tensor_slices((x, np.arange(256))).batch(32)
    rule = sd.Normalize(mean, std, planar=True)
    for (a, i), (b, _) in zip(ds.to_torch(device="cuda:0", normalize=rule), ds.to_torch(normalize=rule)):
        raw = torch.from_numpy(x[i.cpu().numpy()]).to("cuda:0").permute(0, 3, 1, 2)
        m, s = (torch.tensor(v, device="cuda:0").view(3, 1, 1) for v in (mean, std))
        c.true(torch.allclose(a, (raw / 255.0 - m) / s, atol=1e-5), "as torch has it")
        c.true(torch.equal(a.cpu(), b), "as on the host")


def test_full():
    """A consumer that keeps everything gets an error; nothing is lost once it releases something. Of a large device all
    but 2 GB are taken first."""
    import torch

    unused, _ = sd._engine.device_memory(0)
    taken = torch.empty(max(0, unused - (2 << 30)), dtype=torch.uint8, device="cuda:0")
    unused, _ = sd._engine.device_memory(0)
    size = max(unused // 8, 1 << 20) >> 20 << 20
    ds = sd.Dataset.range(40).map(lambda x: sd.fill([size], sd.cast(x, "uint8")))
    it, held = iter(ds.to_device("cuda:0", 1)), []
    e = c.raises(sd.errors.ResourceExhaustedError, lambda: held.extend(iter(it)), "cuda:0")
    n = len(held) if e else 0
    held.clear()
    c.same(int(next(it).numpy()[0]), n)
    del taken


if __name__ == "__main__":
    reason = gpu_transfer.why_not()
    if reason:
        c.skip(reason)
        c.done()
    c.main(globals())
