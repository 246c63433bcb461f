#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sequence packing: random sequences against a plain Python model, resumed at every row, with threads, with
failed elements, killed and interrupted."""

import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import checks as c
import numpy as np
import stoker.data as sd

D = sd.Dataset


class Row:
    """One row of the model: for each component its values, segment ids and positions."""

    def __init__(self, lengths):
        self.lengths, self.parts, self.sequences = lengths, [([], [], []) for _ in lengths], 0

    def space(self, k):
        return self.lengths[k] - len(self.parts[k][0])

    def add(self, pieces):
        self.sequences += 1
        for part, piece in zip(self.parts, pieces):
            part[0].extend(piece)
            part[1].extend([self.sequences] * len(piece))
            part[2].extend(range(len(piece)))

    def padded(self, pads):
        out = []
        for k, (values, segments, positions) in enumerate(self.parts):
            free = [0] * self.space(k)
            out.append((values + [pads[k]] * len(free), segments + free, positions + free))
        return out


def fitted(sequences, lengths, best, bins, most):
    """The model of first fit and best fit: sequences are tuples of lists."""
    rows = []
    for s in sequences:
        ok = [r for r in rows if r.sequences < most and all(len(x) <= r.space(k) for k, x in enumerate(s))]
        if not ok and len(rows) == bins:
            yield from rows
            rows = []
        if not ok:
            ok = [Row(lengths)]
            rows.append(ok[0])
        held = [sum(len(p[0]) for p in r.parts) for r in ok]
        ok[held.index(max(held)) if best else 0].add(s)
    yield from rows


def chopped(sequences, lengths, most):
    """The model of chop."""
    row = None
    for rest in sequences:
        row = row or Row(lengths)
        while True:
            if row.sequences == most:
                yield row
                row = Row(lengths)
            pieces = [x[: row.space(k)] for k, x in enumerate(rest)]
            is_cut = any(len(p) < len(x) for p, x in zip(pieces, rest))
            if not is_cut or any(pieces):
                row.add(pieces)
            if not is_cut:
                break
            rest = [x[len(p) :] for p, x in zip(pieces, rest)]
            yield row
            row = Row(lengths)
    if row:
        yield row


def model(sequences, lengths, method, bins, most, pads):
    most = most or 10**9
    rows = chopped(sequences, lengths, most) if method == "chop" else fitted(sequences, lengths, method == "best_fit", bins, most)
    return [r.padded(pads) for r in rows]


def dataset(sequences, dtypes):
    """A dataset of tuples of lists, of a component without a tuple."""
    flat = [np.array([v for s in sequences for v in s[k]], t) for k, t in enumerate(dtypes)]
    ends = [np.cumsum([0] + [len(s[k]) for s in sequences]) for k in range(len(dtypes))]
    each = D.from_tensor_slices(tuple(np.stack([e[:-1], e[1:]], 1) for e in ends))

    def cut(*places):
        return tuple(sd.constant(flat[k])[p[0] : p[1]] for k, p in enumerate(places))

    return each.map(cut)


def have(ds, it=None):
    """Rows as the model gives them."""
    out = []
    for values, segments, positions in ds if it is None else it:
        out.append([(list(v.tolist()), s.tolist(), p.tolist()) for v, s, p in zip(values, segments, positions)])
    return out


def random_case(rng):
    n, components = rng.choice([0, 1, 3, 40, 120]), rng.choice([1, 1, 2, 3])
    lengths = [rng.choice([1, 2, 7, 16, 50]) for _ in range(components)]
    method = rng.choice(["first_fit", "best_fit", "chop"])
    long = 3 if method == "chop" else 1
    sequences = [tuple([rng.randrange(1, 100) for _ in range(rng.randrange(0, long * m + 1))] for m in lengths) for _ in range(n)]
    return sequences, lengths, method, rng.choice([1, 2, 5, 64]), rng.choice([None, None, 1, 3]), [rng.choice([0, 7]) for _ in lengths]


def packed(case):
    sequences, lengths, method, bins, most, pads = case
    ds = dataset(sequences, [np.int32, np.int64, np.float32][: len(lengths)])
    return ds.pack(tuple(lengths), method, bins, padding_values=tuple(pads) if any(pads) else None, max_sequences=most)


def test_model():
    """Random sequences, methods and sizes; resumed at every row; however many elements are asked for at once."""
    for seed in range(120):
        case = random_case(random.Random(seed))
        want = model(*case)
        ds = packed(case)
        c.true(have(ds) == want, f"seed {seed}: {case[1:]}")
        it = iter(ds)
        for k in range(0, len(want) + 1, 1 + len(want) // 9):
            c.true(have(ds, ds.iterator(state=it.state())) == want[k:], f"seed {seed}: resumed at row {k}")
            for _ in range(1 + len(want) // 9):
                next(it, None)
        batched = [row for b in ds.batch(3) for row in zip(*[list(x) for x in b[0]])]
        c.true([[v.tolist() for v in row] for row in batched] == [[p[0] for p in r] for r in want], f"seed {seed}: batches")


def test_threads_and_shuffles():
    case = ([tuple([[i] * (1 + i * 7 % 30)]) for i in range(500)], [64], "best_fit", 8, None, [0])
    want = model(*case)
    ds = dataset(case[0], [np.int32]).map(lambda x: (x,), sd.AUTOTUNE).prefetch(4).pack((64,), "best_fit", 8).prefetch(2)
    c.true(have(ds) == want, "with threads")
    mixed = packed(case).shuffle(20, seed=3)
    c.true(sorted(have(mixed)) == sorted(want), "shuffled")
    it = iter(mixed)
    for _ in range(17):
        next(it)
    state = it.state()
    rest = have(mixed, it)
    c.true(rest == have(mixed, mixed.iterator(state=state)) and len(rest) == len(want) - 17, "shuffled, resumed")


def test_structures():
    words = D.from_tensor_slices(np.arange(1, 6)).map(lambda n: {"ids": sd.range(n), "label": n * 10, "other": n})
    rows = list(words.pack({"ids": 8, "label": 3}, bins=2))
    c.same(list(rows[0]), ["ids", "ids_segment_ids", "ids_positions", "label", "label_segment_ids", "label_positions"])
    c.same(rows[0]["ids"], np.array([0, 0, 1, 0, 1, 2, 0, 0]))
    c.same(rows[0]["ids_segment_ids"], np.array([1, 2, 2, 3, 3, 3, 0, 0], np.int32))
    c.same(rows[0]["ids_positions"], np.array([0, 0, 1, 0, 1, 2, 0, 0], np.int32))
    c.same(rows[0]["label"], np.array([10, 20, 30]), "a scalar is one value")
    one = next(iter(D.range(1, 4).map(sd.range).pack(6)))
    c.same(one, (np.array([0, 0, 1, 0, 1, 2]), np.array([1, 2, 2, 3, 3, 3], np.int32), np.array([0, 0, 1, 0, 1, 2], np.int32)))
    nested = D.range(1, 3).map(lambda n: ({"a": sd.range(n)}, n)).pack(4)
    c.same(nested.element_spec[0][0]["a"].shape, sd.TensorShape([4]), "spec")
    c.same(next(iter(nested))[1], ({"a": np.array([1, 2, 2, 0], np.int32)}, np.array([1, 2, 0, 0], np.int32)))
    vectors = D.range(1, 4).map(lambda n: sd.ones([n, 2], "float32") * sd.cast(n, "float32"))
    c.same(next(iter(vectors.pack(4, padding_values=-1.0)))[0], np.float32([[1, 1], [2, 2], [2, 2], [-1, -1]]), "vectors")
    strings = D.from_tensor_slices(np.array([b"a b", b"c", b"d e f"], object)).map(sd.strings.split)
    c.same(next(iter(strings.pack(5, "chop", padding_values=b"-")))[0].tolist(), [b"a", b"b", b"c", b"d", b"e"], "strings")
    c.same(list(strings.pack(5, "chop", padding_values=b"-"))[1][0].tolist(), [b"f", b"-", b"-", b"-", b"-"], "strings")
    ragged = D.range(6).map(sd.range).ragged_batch(4).unbatch().pack(5)
    c.true(sum(int((r[1] > 0).sum()) for r in ragged) == 15, "of ragged batches")
    c.same(D.range(0).map(sd.range).pack(3).cardinality(), 0)
    c.same(D.range(9).map(sd.range).repeat().pack(9).cardinality(), sd.INFINITE_CARDINALITY)
    c.same(len(list(D.range(9).map(sd.range).repeat().pack(9).take(20))), 20, "without end")


def test_in_functions():
    """Packing within each of several sources."""
    ds = D.range(3).flat_map(lambda i: D.range(i + 1).map(lambda j: sd.fill([j + 1], i)).pack(4, bins=2).map(lambda v, s, p: v))
    c.same([r.tolist() for r in ds], [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 2, 0], [2, 2, 2, 0]])
    copy = pickle.loads(pickle.dumps(ds))
    c.same([r.tolist() for r in copy], [r.tolist() for r in ds], "pickled")


def test_errors_cost_one_sequence():
    """One that is too long, has another shape or failed itself: the others are packed as if it were not there."""
    ds = D.range(1, 8).map(sd.range)
    good = [i for i in range(1, 8) if i <= 5]
    want = [r[0][0] for r in model([(list(range(i)),) for i in good], [5], "first_fit", 3, None, [0])]
    e = c.raises(sd.errors.InvalidArgumentError, lambda: list(ds.pack(5, bins=3)), "6 values and a row 5", '"chop"', "test_pack.py")
    c.true("pack" in str(e), "names the stage")
    c.same([r[0].tolist() for r in ds.pack(5, bins=3).ignore_errors()], want, "left out")
    it = iter(ds.pack(5, bins=3).ignore_errors())
    next(it)
    c.same([r[0].tolist() for r in ds.pack(5, bins=3).ignore_errors().iterator(state=it.state())], want[1:], "resumed")
    shapes = D.range(4).map(lambda n: sd.ones([n, sd.where(n == 2, np.int64(3), np.int64(2))]))
    c.raises(sd.errors.InvalidArgumentError, lambda: list(shapes.pack(9)), "shape (2, 3)", "first dimension")
    c.same(len(list(shapes.pack(9, "chop").ignore_errors())), 1)
    bad = D.range(6).map(lambda x: sd.range(x + sd.cast(sd.debugging.check_numerics(sd.where(x == 3, np.nan, 0.0), "bad"), "int64")))
    c.same([r[0].tolist() for r in bad.pack(20).ignore_errors()], [[0, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 4] + [0] * 8], "input's errors")


def test_wrong_arguments():
    ds = D.range(3).map(sd.range)
    c.raises(sd.errors.InvalidArgumentError, lambda: ds.pack(3, "best"), "first_fit, best_fit, chop", "'best'")
    c.raises(ValueError, lambda: ds.pack(0), "length")
    c.raises(ValueError, lambda: ds.pack(4, bins=0), "bins")
    c.raises(ValueError, lambda: ds.pack(4, max_sequences=0), "max_sequences")
    c.raises(TypeError, lambda: ds.pack((4, 4)), "length")
    c.raises(TypeError, lambda: ds.ragged_batch(2).pack(4), "unbatch()")
    c.raises(TypeError, lambda: D.range(9).window(2).pack(4), "dense")
    clash = D.range(3).map(lambda n: {"a": sd.range(n), "a_positions": n})
    c.raises(sd.errors.InvalidArgumentError, lambda: clash.pack(4), "a_positions")
    c.raises(sd.errors.ResourceExhaustedError, lambda: list(ds.pack(1 << 30, bins=64).with_options(small())), "pack")


def small():
    options = sd.Options()
    options.autotune.ram_budget = 64 << 20
    return options


PROGRAM = """
import sys
import stoker.data as sd
ds = sd.Dataset.range(4000).map(lambda x: sd.fill([x % 37 + 1], x), sd.AUTOTUNE).shuffle(100, seed=5).pack(64, {method!r}, 16)
it = ds.iterator(state=open({state!r}, "rb").read() if {resume} else None)
for row in it:
    sys.stdout.write(" ".join(map(str, row[0].tolist())) + "\\n")
    with open({state!r} + ".new", "wb") as f:
        f.write(it.state())
    import os; os.replace({state!r} + ".new", {state!r})
    sys.stdout.flush()
"""


def test_kill_and_resume():
    """Killed after some rows, and continued by another process: no row is missing or comes twice."""
    for method in ("first_fit", "chop"):
        with tempfile.TemporaryDirectory() as folder:
            state = os.path.join(folder, "state")
            whole = subprocess.run(
                [sys.executable, "-c", PROGRAM.format(method=method, state=state, resume=False)], capture_output=True, text=True, check=True
            ).stdout.splitlines()
            with subprocess.Popen(
                [sys.executable, "-c", PROGRAM.format(method=method, state=state, resume=False)], stdout=subprocess.PIPE, text=True
            ) as p:
                got = [p.stdout.readline() for _ in range(60)]
                p.send_signal(signal.SIGKILL)
                got += p.stdout.readlines()
            got = [l[:-1] for l in got if l.endswith("\n")]
            rest = subprocess.run(
                [sys.executable, "-c", PROGRAM.format(method=method, state=state, resume=True)], capture_output=True, text=True, check=True
            ).stdout.splitlines()
            # The state may be one row behind what was printed.
            c.true(len(whole) > 700 and got + rest[max(0, len(got) + len(rest) - len(whole)) :] == whole, f"{method}: killed after {len(got)}")


def test_interrupt():
    """Ctrl-C while the rows of a slow source fill: nothing is lost."""
    def slow():
        for i in range(40):
            time.sleep(0.01)
            yield np.full(i % 5 + 1, i)

    ds = D.from_generator(slow, output_signature=sd.TensorSpec([None], "int64")).pack(16, bins=4)
    want = have_values(ds)
    got, it, interrupts = [], iter(ds), 0
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    while True:
        try:
            got.append(next(it)[0].tolist())
        except KeyboardInterrupt:
            interrupts += 1
        except StopIteration:
            break
    timer.join()
    c.same((got, interrupts), (want, 1))


def have_values(ds):
    return [r[0].tolist() for r in ds]


if __name__ == "__main__":
    c.main(globals())
