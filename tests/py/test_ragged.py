#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Batches of sparse and ragged values, datasets reduced inside functions: against TensorFlow 2.21's results
(recorded)."""

import os
import tempfile

import checks as c
import numpy as np
import stoker.data as sd

ERROR = "an error"

# Expressions over m (the module) and F (a file of Examples), and their elements.
RECORDED = [
    ('m.Dataset.range(7).map(lambda x: m.range(x%4)).apply(m.experimental.dense_to_ragged_batch(3))', [('ragged', [[], [0], [0, 1]], 'int64'), ('ragged', [[0, 1, 2], [], [0]], 'int64'), ('ragged', [[0, 1]], 'int64')]),
    ('m.Dataset.range(7).map(lambda x: m.range(x%4)).ragged_batch(3,drop_remainder=True)', [('ragged', [[], [0], [0, 1]], 'int64'), ('ragged', [[0, 1, 2], [], [0]], 'int64')]),
    ('m.Dataset.range(7).map(lambda x: m.range(x%4)).ragged_batch(3,row_splits_dtype=m.int32)', [('ragged', [[], [0], [0, 1]], 'int32'), ('ragged', [[0, 1, 2], [], [0]], 'int32'), ('ragged', [[0, 1]], 'int32')]),
    ('m.Dataset.range(7).map(lambda x: m.fill([x%3+1,2],x)).ragged_batch(3)', [('ragged', [[[0, 0]], [[1, 1], [1, 1]], [[2, 2], [2, 2], [2, 2]]], 'int64'), ('ragged', [[[3, 3]], [[4, 4], [4, 4]], [[5, 5], [5, 5], [5, 5]]], 'int64'), ('ragged', [[[6, 6]]], 'int64')]),
    ('m.Dataset.range(7).map(lambda x: m.fill([2,x%3+1],x)).ragged_batch(3)', [('ragged', [[[0], [0]], [[1, 1], [1, 1]], [[2, 2, 2], [2, 2, 2]]], 'int64'), ('ragged', [[[3], [3]], [[4, 4], [4, 4]], [[5, 5, 5], [5, 5, 5]]], 'int64'), ('ragged', [[[6], [6]]], 'int64')]),
    ('m.Dataset.range(7).map(lambda x: m.fill([x%2+1,x%3+1],x)).ragged_batch(2)', [('ragged', [[[0]], [[1, 1], [1, 1]]], 'int64'), ('ragged', [[[2, 2, 2]], [[3], [3]]], 'int64'), ('ragged', [[[4, 4]], [[5, 5, 5], [5, 5, 5]]], 'int64'), ('ragged', [[[6]]], 'int64')]),
    ('m.Dataset.range(7).map(lambda x: m.fill([x%2+1,x%3],x)).ragged_batch(2).ragged_batch(2)', [('ragged', [[[[]], [[1], [1]]], [[[2, 2]], [[], []]]], 'int64'), ('ragged', [[[[4]], [[5, 5], [5, 5]]], [[[]]]], 'int64')]),
    ('m.Dataset.range(8).map(lambda x: m.range(x%4)).ragged_batch(2).batch(2)', [('ragged', [[[], [0]], [[0, 1], [0, 1, 2]]], 'int64'), ('ragged', [[[], [0]], [[0, 1], [0, 1, 2]]], 'int64')]),
    ("m.Dataset.range(8).map(lambda x: (m.range(x%4), {'s': m.strings.split(m.as_string(x*1111),'1')})).ragged_batch(3)", [(('ragged', [[], [0], [0, 1]], 'int64'), {'s': ('ragged', [[b'0'], [b'', b'', b'', b'', b''], [b'2222']], 'int64')}), (('ragged', [[0, 1, 2], [], [0]], 'int64'), {'s': ('ragged', [[b'3333'], [b'4444'], [b'5555']], 'int64')}), (('ragged', [[0, 1], [0, 1, 2]], 'int64'), {'s': ('ragged', [[b'6666'], [b'7777']], 'int64')})]),
    ('m.Dataset.range(8).map(lambda x: x).ragged_batch(3)', [[0, 1, 2], [3, 4, 5], [6, 7]]),
    ("m.TFRecordDataset(F).map(lambda r: m.io.parse_single_example(r,{'v':m.io.VarLenFeature(m.int64),'s':m.io.VarLenFeature(m.string),'y':m.io.FixedLenFeature([],m.int64)})).batch(2)", [{'s': ('sparse', [[1, 0]], [b'a'], [2, 1]), 'v': ('sparse', [[1, 0]], [0], [2, 1]), 'y': [0, 1]}, {'s': ('sparse', [[1, 0]], [b'a'], [2, 1]), 'v': ('sparse', [[0, 0], [0, 1]], [0, 1], [2, 2]), 'y': [2, 3]}, {'s': ('sparse', [[1, 0]], [b'a'], [2, 1]), 'v': ('sparse', [[0, 0], [1, 0], [1, 1]], [0, 0, 1], [2, 2]), 'y': [4, 5]}, {'s': ('sparse', [], [], [1, 0]), 'v': ('sparse', [], [], [1, 0]), 'y': [6]}]),
    ("m.TFRecordDataset(F).map(lambda r: m.io.parse_single_example(r,{'v':m.io.VarLenFeature(m.int64)})).batch(2,drop_remainder=True).batch(2)", [{'v': ('sparse', [[0, 1, 0], [1, 0, 0], [1, 0, 1]], [0, 0, 1], [2, 2, 2])}, {'v': ('sparse', [[0, 0, 0], [0, 1, 0], [0, 1, 1]], [0, 0, 1], [1, 2, 2])}]),
    ("m.TFRecordDataset(F).batch(2).map(lambda r: m.io.parse_example(r,{'v':m.io.VarLenFeature(m.int64)})).batch(2)", [{'v': ('sparse', [[0, 1, 0], [1, 0, 0], [1, 0, 1]], [0, 0, 1], [2, 2, 2])}, {'v': ('sparse', [[0, 0, 0], [0, 1, 0], [0, 1, 1]], [0, 0, 1], [2, 2, 2])}]),
    ("m.TFRecordDataset(F).batch(2).map(lambda r: m.io.parse_example(r,{'v':m.io.RaggedFeature(m.int64)})).batch(2)", [{'v': ('ragged', [[[], [0]], [[0, 1], []]], 'int32')}, {'v': ('ragged', [[[0], [0, 1]], [[]]], 'int32')}]),
    ('m.Dataset.range(6).map(lambda x: m.range(x%4)).apply(m.experimental.dense_to_sparse_batch(4,[5]))', [('sparse', [[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]], [0, 0, 1, 0, 1, 2], [4, 5]), ('sparse', [[1, 0]], [0], [2, 5])]),
    ('m.Dataset.range(6).map(lambda x: m.range(x%4)).apply(m.experimental.dense_to_sparse_batch(4,[None]))', [('sparse', [[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]], [0, 0, 1, 0, 1, 2], [4, 3]), ('sparse', [[1, 0]], [0], [2, 1])]),
    ('m.Dataset.range(6).map(lambda x: m.range(x%4)).apply(m.experimental.dense_to_sparse_batch(4,[2]))', ERROR),
    ('m.Dataset.range(6).map(lambda x: m.range(x%4)).ragged_batch(4).unbatch()', [[], [0], [0, 1], [0, 1, 2], [], [0]]),
    ("m.TFRecordDataset(F).batch(3).map(lambda r: m.io.parse_example(r,{'v':m.io.VarLenFeature(m.int64)})).unbatch()", [{'v': ('sparse', [], [], [2])}, {'v': ('sparse', [[0]], [0], [2])}, {'v': ('sparse', [[0], [1]], [0, 1], [2])}, {'v': ('sparse', [], [], [2])}, {'v': ('sparse', [[0]], [0], [2])}, {'v': ('sparse', [[0], [1]], [0, 1], [2])}, {'v': ('sparse', [], [], [0])}]),
    ("m.TFRecordDataset(F).batch(3).map(lambda r: m.io.parse_example(r,{'v':m.io.RaggedFeature(m.int64)})).unbatch()", [{'v': []}, {'v': [0]}, {'v': [0, 1]}, {'v': []}, {'v': [0]}, {'v': [0, 1]}, {'v': []}]),
    ('m.Dataset.range(8).map(lambda x: m.range(x%4)).ragged_batch(2).batch(2).unbatch()', [('ragged', [[], [0]], 'int64'), ('ragged', [[0, 1], [0, 1, 2]], 'int64'), ('ragged', [[], [0]], 'int64'), ('ragged', [[0, 1], [0, 1, 2]], 'int64')]),
    ('m.Dataset.range(8).map(lambda x: m.range(x%4)).ragged_batch(3).rebatch(2)', [('ragged', [[], [0]], 'int64'), ('ragged', [[0, 1], [0, 1, 2]], 'int64'), ('ragged', [[], [0]], 'int64'), ('ragged', [[0, 1], [0, 1, 2]], 'int64')]),
    ("m.TFRecordDataset(F).batch(3).map(lambda r: m.io.parse_example(r,{'v':m.io.VarLenFeature(m.int64)})).rebatch(2)", [{'v': ('sparse', [[1, 0]], [0], [2, 2])}, {'v': ('sparse', [[0, 0], [0, 1]], [0, 1], [2, 2])}, {'v': ('sparse', [[0, 0], [1, 0], [1, 1]], [0, 0, 1], [2, 2])}, {'v': ('sparse', [], [], [1, 0])}]),
    ('m.Dataset.range(6).window(2).flat_map(lambda w: w.map(lambda x: m.range(x%4)).ragged_batch(2))', [('ragged', [[], [0]], 'int64'), ('ragged', [[0, 1], [0, 1, 2]], 'int64'), ('ragged', [[], [0]], 'int64')]),
    ('m.Dataset.range(7).map(lambda x: m.range(x%4)).padded_batch(3)', [[[0, 0], [0, 0], [0, 1]], [[0, 1, 2], [0, 0, 0], [0, 0, 0]], [[0, 1]]]),
    ('m.Dataset.range(6).flat_map(lambda x: m.Dataset.from_tensors(m.range(x%3)).map(lambda y: m.reduce_sum(y)))', [0, 0, 1, 0, 0, 1]),
    ('m.Dataset.range(3).flat_map(lambda x: m.Dataset.from_tensors(m.Dataset.range(x+2).reduce(m.constant(0,m.int64), lambda s,e: s+e)))', [1, 3, 6]),
    ('m.Dataset.range(3).map(lambda x: m.Dataset.range(x+2).reduce(m.constant(0,m.int64), lambda s,e: s+e))', [1, 3, 6]),
    ('m.Dataset.range(3).map(lambda x: m.Dataset.range(x,x+1).get_single_element())', [0, 1, 2]),
    ('m.Dataset.range(6).window(3).map(lambda w: w.reduce(m.constant(1,m.int64), lambda s,e: s*e+1))', [5, 86]),
    ('m.Dataset.range(6).window(3).map(lambda w: w.batch(3).get_single_element())', [[0, 1, 2], [3, 4, 5]]),
    ('m.Dataset.range(6).window(4).map(lambda w: w.batch(3).get_single_element())', ERROR),
    ('m.Dataset.range(4).map(lambda x: m.Dataset.range(5).reduce((x,m.constant(0)), lambda s,e: (s[0]+e, s[1]+1)))', [(10, 5), (11, 5), (12, 5), (13, 5)]),
    ('m.Dataset.range(4).map(lambda x: m.Dataset.range(5).map(lambda y: y*x).reduce(x, lambda s,e: s+e+x))', [0, 16, 32, 48]),
]


def plain(v):
    if isinstance(v, sd.SparseTensor):
        return ("sparse", v.indices.tolist(), v.values.tolist(), v.dense_shape.tolist())
    if isinstance(v, sd.RaggedTensor):
        return ("ragged", v.to_list(), v.row_splits.dtype.name)
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, tuple):
        return tuple(plain(x) for x in v)
    return v.tolist() if isinstance(v, (np.ndarray, np.generic)) else v


def write(path):
    with sd.TFRecordWriter(path) as w:
        for i in range(7):
            w.write(sd.io.Example(v=list(range(i % 3)), s=[b"a"] * (i % 2), y=i))


def test_recorded():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.tfr")
        write(path)
        for text, want in RECORDED:
            f = lambda: [plain(e) for e in eval(text, {"m": sd, "F": path, "np": np})]
            if want == ERROR:
                c.raises((sd.errors.OpError, TypeError), f)
            else:
                have = f()
                c.true(have == want, f"{text}: have {have}, want {want}")


def test_native_and_resumed():
    ds = sd.Dataset.range(40).map(lambda x: {"r": sd.range(x % 5), "x": x}).ragged_batch(3)
    c.true("python" not in ds.explain().lower(), "ragged_batch is native")
    whole = [plain(e) for e in ds]
    for at in (0, 1, 7, 13):
        it = iter(ds)
        for _ in range(at):
            next(it)
        c.same([plain(e) for e in ds.iterator(state=it.state())], whole[at:])
    c.same(ds.cardinality(), 14)
    sums = sd.Dataset.range(2000).map(lambda x: sd.Dataset.range(x % 7 + 1).reduce(x, lambda s, e: s + e), 2)
    c.true("python" not in sums.explain().lower(), "reduce in a function is native")
    c.same([int(v) for v in sums], [x + sum(range(x % 7 + 1)) for x in range(2000)])
    slices = sd.Dataset.from_tensor_slices(sd.RaggedTensor.from_row_splits(np.arange(5), np.array([0, 2, 2, 5])))
    c.same([plain(e) for e in slices], [[0, 1], [], [2, 3, 4]])


def test_errors():
    uneven = sd.Dataset.from_tensor_slices([2, 3]).map(lambda n: sd.zeros([n, n]))
    c.raises(sd.errors.InvalidArgumentError, lambda: list(uneven.batch(2)))
    two = sd.Dataset.range(3).map(lambda x: sd.Dataset.range(x).get_single_element())
    it = iter(two)
    c.raises(sd.errors.InvalidArgumentError, lambda: next(it), "empty")
    c.same(next(it), np.int64(0))
    c.raises(sd.errors.InvalidArgumentError, lambda: next(it), "more than one")
    c.raises(TypeError, lambda: sd.Dataset.range(4).window(2).ragged_batch(2))
    c.raises(TypeError, lambda: sd.Dataset.range(4).ragged_batch(2, row_splits_dtype="float32"))


def test_splits_that_fall():
    """Row splits that fall would write more places than there are."""
    for splits in ([0, 5, 2], [0, 2, 1, 4], [1, 2], []):
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.ops.ragged_places(np.array(splits, np.int64)))
    places, shapes = np.zeros((2, 1), np.int64), np.ones((2, 1), np.int64)
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.ops.sparse_batch(places, np.array([0, 5, 2]), shapes))


if __name__ == "__main__":
    c.main(globals())
