# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training: parts of equal length, one order for all ranks, epochs that agree, states that are rejected
if they belong to another pipeline. With torch: two ranks under gloo train ten epochs."""

import collections
import importlib.util
import io
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tarfile
import tempfile
import warnings

import numpy as np

import checks as c
import stoker.data as sd


def parts(ds, n, **more):
    return [[int(x) for x in ds.shard(n, i, **more)] for i in range(n)]


def test_equal_parts():
    ds = sd.Dataset.range(7)
    c.same(parts(ds, 3), [[0, 3, 6], [1, 4], [2, 5]])
    c.same(parts(ds, 3, remainder="keep"), parts(ds, 3))
    c.same(parts(ds, 3, remainder="drop"), [[0, 3], [1, 4], [2, 5]])
    c.same(parts(ds, 3, remainder="pad"), [[0, 3, 6], [1, 4, 1], [2, 5, 2]])
    c.same(parts(sd.Dataset.range(2), 4, remainder="pad"), [[0], [1], [0], [0]])
    c.same(parts(sd.Dataset.range(0), 2, remainder="pad"), [[], []])
    unknown = sd.Dataset.range(14).filter(lambda x: x % 2 == 0)  # a length that nobody knows
    c.same(parts(unknown, 3, remainder="pad"), [[0, 6, 12], [2, 8, 2], [4, 10, 4]])
    c.same([ds.shard(3, i, remainder="pad").cardinality() for i in range(3)], [3, 3, 3])
    c.same([ds.shard(3, i, remainder="drop").cardinality() for i in range(3)], [2, 2, 2])
    c.raises(sd.errors.InvalidArgumentError, lambda: ds.shard(3, 0, remainder="wrap"), "keep, drop, pad")
    c.raises(TypeError, lambda: ds.shard(3, 0, remainder_="pad"), "remainder")


def test_resumed_parts():
    """A resumed part gives what follows, the element that fills up as well."""
    for n in range(9):
        for how in ("keep", "drop", "pad"):
            for source in (sd.Dataset.range(n), sd.Dataset.range(2 * n).filter(lambda x: x % 2 == 0)):
                ds = source.shard(4, 2, remainder=how)
                whole = [int(x) for x in ds]
                for k in range(len(whole) + 1):
                    it = iter(ds)
                    for _ in range(k):
                        next(it)
                    rest = [int(x) for x in ds.iterator(state=it.state())]
                    c.same(rest, whole[k:], f"{how} of {n} behind {k}")


def test_environment():
    """shard() alone: the launcher's numbers, and parts of equal length."""
    names = ("RANK", "WORLD_SIZE")
    before = {n: os.environ.get(n) for n in names}
    try:
        os.environ.update(RANK="1", WORLD_SIZE="2")
        c.same([int(x) for x in sd.Dataset.range(5).shard()], [1, 3, 1])
        c.same([int(x) for x in sd.Dataset.range(5).shard(remainder="keep")], [1, 3])
    finally:
        for n, v in before.items():
            os.environ.pop(n, None) if v is None else os.environ.update({n: v})


_ORDER = """
import stoker.data as sd
ds = sd.Dataset.range(20).shuffle(20).shard(2, {i})
print([[int(x) for x in ds] for _ in range(2)])
"""


def test_one_order():
    """Without a seed, all parts still are parts of one order: in one process, and in several."""
    for ds in (
        sd.Dataset.range(20).shuffle(20),
        sd.Dataset.range(20).shuffle(20, reshuffle_each_iteration=False),
        sd.Dataset.sample_from_datasets([sd.Dataset.range(10), sd.Dataset.range(10, 20)]),
        sd.Dataset.range(2).interleave(lambda i: sd.Dataset.range(i * 10, i * 10 + 10).shuffle(10)),
    ):
        c.same(sorted(sum(parts(ds, 2), [])), list(range(20)))
    ranks = [
        subprocess.run(
            [sys.executable, "-c", _ORDER.format(i=i)], capture_output=True, text=True, check=True
        )
        for i in range(2)
    ]
    epochs = list(zip(*[eval(r.stdout) for r in ranks]))
    c.same([sorted(sum(e, [])) for e in epochs], [list(range(20))] * 2)
    c.true(epochs[0] != epochs[1], "another order in the next epoch")
    alone = [[int(x) for x in sd.Dataset.range(20).shuffle(20)] for _ in range(2)]
    c.true(alone[0] != alone[1], "without parts nothing is shared")
    first = [int(x) for x in sd.Dataset.range(20).shard(2, 0).shuffle(10)]
    c.true(any([int(x) for x in sd.Dataset.range(20).shard(2, 0).shuffle(10)] != first for _ in range(3)),
           "a shuffle behind the split is each rank's own")


def test_other_pipelines_state():
    """A state of another pipeline is refused; a change that affects no element doesn't make it another."""
    ds = sd.Dataset.range(50).map(lambda x: x + 1).shuffle(10, seed=1).batch(4)
    it = iter(ds)
    for _ in range(3):
        next(it)
    state, rest = it.state(), [b.tolist() for b in it]
    same = sd.Dataset.range(50).map(lambda x: x + 1, num_parallel_calls=2).shuffle(10, seed=1).batch(4)
    c.same([b.tolist() for b in same.prefetch(3).iterator(state=state)], rest)
    for other in (
        sd.Dataset.range(51).map(lambda x: x + 1).shuffle(10, seed=1).batch(4),
        sd.Dataset.range(50).map(lambda x: x + 2).shuffle(10, seed=1).batch(4),
        sd.Dataset.range(50).map(lambda x: x + 1).shuffle(11, seed=1).batch(4),
        sd.Dataset.range(50).map(lambda x: x + 1).shuffle(10, seed=1).batch(5),
        sd.Dataset.range(50).map(lambda x: x + 1).batch(4),
    ):
        c.raises(
            sd.errors.InvalidArgumentError, lambda: other.iterator(state=state), "another pipeline"
        )
    a, b = np.zeros(100000), np.zeros(100000)
    it = iter(sd.Dataset.from_tensor_slices(a))
    next(it)
    c.same(len(list(sd.Dataset.from_tensor_slices(b).iterator(state=it.state()))), 99999)
    with tempfile.TemporaryDirectory() as folder:  # files that were moved are the same files
        for name in ("here", "there"):
            os.mkdir(os.path.join(folder, name))
            with open(os.path.join(folder, name, "a.txt"), "w") as f:
                f.write("1\n2\n3\n")
        it = iter(sd.TextLineDataset(os.path.join(folder, "here", "a.txt")))
        next(it)
        there = sd.TextLineDataset(os.path.join(folder, "there", "a.txt"))
        c.same(list(there.iterator(state=it.state())), [b"2", b"3"])
        other = sd.TextLineDataset(os.path.join(folder, "there", "b.txt"))
        c.raises(sd.errors.InvalidArgumentError, lambda: other.iterator(state=it.state()), "files")


def has_torch():
    if importlib.util.find_spec("torch"):
        return True
    c.skip("torch is not installed")
    return False


N, RANKS, EPOCHS, BATCH = 103, 2, 10, 4
_RANK = f"""
import os, sys, json
import numpy as np, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
import stoker.data as sd

how, out = sys.argv[1:]
dist.init_process_group("gloo")
rank = dist.get_rank()
x = np.arange({N}, dtype=np.float32)[:, None] / {N}
ds = sd.Dataset.from_tensor_slices((x, np.arange({N}))).shuffle({N}).shard({RANKS}, rank).batch({BATCH})
loader = ds.to_torch()
if how == "workers":
    loader = torch.utils.data.DataLoader(loader, batch_size=None, num_workers=2)
torch.manual_seed(rank)  # ranks need not agree on this one
model = DistributedDataParallel(torch.nn.Linear(1, 1))
optimiser = torch.optim.SGD(model.parameters(), 0.1)
seen = []
for epoch in range({EPOCHS}):
    seen.append([])
    for inputs, numbers in loader:
        loss = (model(inputs) - 3 * inputs - 1).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        seen[-1].append(numbers.tolist())
json.dump([seen, loss.item(), model.module.weight.item()], open(out + str(rank), "w"))
dist.destroy_process_group()
"""


def together(code, how, folder):
    """What each of two ranks of a process group wrote, which `code` makes (how, where to)."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    out = os.path.join(folder, "rank")
    ranks = []
    for r in range(RANKS):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE=str(RANKS), LOCAL_RANK=str(r),
                   MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1")  # fmt: skip
        ranks.append(subprocess.Popen([sys.executable, "-c", code, how, out], env=env, cwd=folder))
    codes = [r.wait(timeout=300) for r in ranks]
    c.same(codes, [0] * RANKS, f"{how}: exit codes")
    return [json.load(open(out + str(r))) for r in range(RANKS)]


def test_two_ranks_train():
    """Ten epochs of an uneven data set: as many batches on both, every element seen once an epoch but
    the one that fills up, which is seen twice; the models stay equal."""
    if not has_torch():
        return
    with tempfile.TemporaryDirectory() as folder:
        for how in ("loop", "workers"):
            got = together(_RANK, how, folder)
            orders = set()
            for epoch in range(EPOCHS):
                batches = [got[r][0][epoch] for r in range(RANKS)]
                c.same(len({len(b) for b in batches}), 1, f"{how} {epoch}: as many batches")
                counts = collections.Counter(x for rank in batches for b in rank for x in b)
                c.same(sorted(counts), list(range(N)), f"{how} {epoch}: every element")
                c.same(sum(counts.values()), N + 1, f"{how} {epoch}: one fills up")
                orders.add(tuple(batches[0][0]))
            c.same(len(orders), EPOCHS, f"{how}: another order each epoch")
            c.true(got[0][2] == got[1][2], "one model")
            c.true(all(g[1] < 0.5 for g in got), f"it learns: {[g[1] for g in got]}")


_PAGE = """
import json, os, sys
import torch.distributed as dist

how, out = sys.argv[1:]
dist.init_process_group("gloo")
names = {}
exec(compile(how, "the page", "exec"), names)
seen = []
for epoch in range(10):
    seen.append([])
    for image, label in names["loader"]:
        seen[-1].append(label.tolist())
        dist.all_reduce(image.sum())  # waits for the other rank at each step, as training does
json.dump(seen, open(out + os.environ["RANK"], "w"))
dist.destroy_process_group()
"""


def test_shards_of_two_ranks():
    """The page about WebDataset as it is printed, on two ranks whose shards hold five elements and one."""
    if not has_torch():
        return
    page = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/coming-from-webdataset.md"
    code = "".join(re.findall(r"^```python[^\n]*\n(.*?)^```", page.read_text(), re.M | re.S))
    jpeg = bytes(sd.io.encode_jpeg(np.zeros((40, 40, 3), np.uint8)))
    with tempfile.TemporaryDirectory() as folder:
        for shard, numbers in enumerate((range(5), range(5, 6))):
            with tarfile.open(os.path.join(folder, f"shard-{shard:03}.tar"), "w") as tar:
                for i in numbers:
                    for suffix, data in (("jpg", jpeg), ("cls", b"%d" % i)):
                        info = tarfile.TarInfo(f"{i}.{suffix}")
                        info.size = len(data)
                        tar.addfile(info, io.BytesIO(data))
        got = together(_PAGE, code, folder)
    c.same([[len(b) for b in epoch] for rank in got for epoch in rank], [[2]] * 20, "as many on both")
    c.same({x for e in got[1] for b in e for x in b}, {5}, "the other rank's own shard")
    c.same({x for e in got[0] for b in e for x in b}, set(range(5)), "in ten epochs all are seen")


def test_torch_in_a_group():
    """to_torch where a launcher says that there are ranks."""
    if not has_torch():
        return
    ds = sd.Dataset.range(5)
    before = {n: os.environ.get(n) for n in ("RANK", "WORLD_SIZE")}

    def told(f):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            out = f()
        return out, [str(w.message) for w in caught]

    try:
        os.environ.update(RANK="1", WORLD_SIZE="2")
        loader, said = told(lambda: ds.shard(2, 1).batch(2).to_torch())
        c.same(([b.tolist() for b in loader], said), ([[1, 3], [1]], []))
        loader, said = told(lambda: ds.shard(2, 1).batch(2).to_torch(remainder="drop"))
        c.same([b.tolist() for b in loader], [[1, 3]])
        loader, said = told(lambda: ds.shard(2, 1, remainder="keep").to_torch())
        c.same([int(x) for x in loader], [1, 3])
        loader, said = told(lambda: ds.batch(2).to_torch())
        c.true(len(said) == 1 and "ranks gets all elements" in said[0], f"{said}")
        c.same(told(lambda: ds.batch(2).to_torch(remainder="keep"))[1], [])
        loader, said = told(lambda: ds.shard(2, 1).filter(lambda x: x > 1).to_torch())
        c.true(len(said) == 1 and "filter" in said[0] and "repeat().take(n)" in said[0], f"{said}")
        some = ds.shard(2, 1).filter(lambda x: x > 1)
        loader, said = told(lambda: some.repeat().take(3).to_torch())
        c.same(([int(x) for x in loader], said), ([3, 3, 3], []))
        c.same(len(told(lambda: some.take(3).to_torch())[1]), 1)  # there may be fewer
    finally:
        for n, v in before.items():
            os.environ.pop(n, None) if v is None else os.environ.update({n: v})


def test_torch_seed():
    """torch.manual_seed makes an unseeded pipeline repeatable, as it does a DataLoader."""
    if not has_torch():
        return
    import torch

    ds = sd.Dataset.range(30).shuffle(30).map(lambda x: (x, sd.random.uniform([])))

    def drawn(loader):
        return [(int(x), float(u)) for x, u in loader]

    loader = ds.to_torch()
    torch.manual_seed(7)
    first, second = drawn(loader), drawn(loader)
    torch.manual_seed(7)
    loader = ds.to_torch()
    c.same((drawn(loader), drawn(loader)), (first, second))
    c.true(first != second, "each pass is another")
    workers = torch.utils.data.DataLoader(ds.to_torch(), batch_size=None, num_workers=2)
    torch.manual_seed(7)
    first = drawn(workers)
    workers = torch.utils.data.DataLoader(ds.to_torch(), batch_size=None, num_workers=2)
    torch.manual_seed(7)
    c.same(drawn(workers), first)


def test_torch_states():
    """Behind workers a state is refused; one that was loaded stays until it is used; epochs go on."""
    if not has_torch():
        return
    import torch

    ds = sd.Dataset.range(12).shuffle(12, seed=3).batch(2)
    loader = ds.to_torch()
    workers = torch.utils.data.DataLoader(loader, batch_size=None, num_workers=1)
    c.same(loader.state_dict(), {})
    c.same(sorted(int(x) for b in workers for x in b), list(range(12)))
    c.raises(RuntimeError, loader.state_dict, "workers", "StatefulDataLoader")
    whole = ds.to_torch()
    epochs = [[b.tolist() for b in whole] for _ in range(3)]
    a = ds.to_torch()
    list(a)
    it = iter(a)
    next(it)
    state = a.state_dict()
    b = ds.to_torch()
    b.load_state_dict(state)
    c.same(b.state_dict(), state)
    c.same([x.tolist() for x in b], epochs[1][1:])
    c.same([x.tolist() for x in b], epochs[2], "the epoch behind the one that was resumed")
    other = sd.Dataset.range(13).shuffle(12, seed=3).batch(2).to_torch()
    other.load_state_dict(state)
    c.raises(sd.errors.InvalidArgumentError, lambda: iter(other), "another pipeline")


c.main(globals())
