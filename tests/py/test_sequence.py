#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SequenceExamples: what TensorFlow 2.21 gives of the same records (recorded)."""

import checks as c
import numpy as np
import stoker.data as sd

A = sd.io.SequenceExample(
    {"n": 3, "v": [1, 2]},
    {"x": [[1.0, 2.0], [3.0, 4.0]], "w": [["a"], ["b", "c"], []], "i": [[7]]},
)
B = sd.io.SequenceExample({"n": 4}, {"x": [[5.0, 6.0]], "w": []})
E = sd.io.SequenceExample({"n": 4}, {"x": [[5.0]]})
F = sd.io
FIXED = {"n": F.FixedLenFeature([], sd.int64)}
STEPS = {"x": F.FixedLenSequenceFeature([2], sd.float32)}


def plain(v):
    if isinstance(v, sd.SparseTensor):
        return ("sparse", v.indices.tolist(), v.values.tolist(), v.dense_shape.tolist())
    if isinstance(v, sd.RaggedTensor):
        return ("ragged", v.to_list())
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, tuple):
        return tuple(plain(x) for x in v)
    return v.tolist() if isinstance(v, (np.ndarray, np.generic)) else v


ERROR = None
VAR = ({"v": F.VarLenFeature(sd.int64)}, {"w": F.VarLenFeature(sd.string)})
RAG = ({"v": F.RaggedFeature(sd.int64)}, {"w": F.RaggedFeature(sd.string)})
NONE = ("sparse", [], [], [0])
CASES = [  # record, context, lists, result
    (A, FIXED, STEPS, ({"n": 3}, {"x": [[1.0, 2.0], [3.0, 4.0]]})),
    (B, FIXED, STEPS, ({"n": 4}, {"x": [[5.0, 6.0]]})),
    (E, FIXED, STEPS, ERROR),
    (A, *VAR, (
        {"v": ("sparse", [[0], [1]], [1, 2], [2])},
        {"w": ("sparse", [[0, 0], [1, 0], [1, 1]], [b"a", b"b", b"c"], [3, 2])},
    )),
    (B, *VAR, ({"v": NONE}, {"w": ("sparse", [], [], [0, 0])})),
    (E, *VAR, ({"v": NONE}, {"w": ("sparse", [], [], [0, 0])})),
    (A, *RAG, ({"v": [1, 2]}, {"w": ("ragged", [[b"a"], [b"b", b"c"], []])})),
    (B, *RAG, ({"v": []}, {"w": ("ragged", [])})),
    (A, {}, {"i": F.FixedLenSequenceFeature([], sd.int64)}, ({}, {"i": [7]})),
    (B, {}, {"i": F.FixedLenSequenceFeature([], sd.int64)}, ERROR),
    (B, {}, {"i": F.FixedLenSequenceFeature([], sd.int64, allow_missing=True)}, ({}, {"i": []})),
    (A, {"q": F.FixedLenFeature([], sd.int64, default_value=9)}, {}, ({"q": 9}, {})),
    (A, {"q": F.FixedLenFeature([], sd.int64)}, {}, ERROR),
    (A, {}, {"w": F.FixedLenSequenceFeature([], sd.string, allow_missing=True)}, ERROR),
    (A, {}, {"x": F.FixedLenSequenceFeature([2], sd.int64)}, ERROR),
    (B, {}, {"w": F.FixedLenSequenceFeature([], sd.string, allow_missing=True)}, ({}, {"w": []})),
]  # fmt: skip


def test_single():
    for record, context, lists, want in CASES:
        parse = lambda r: sd.io.parse_single_sequence_example(r, context, lists)
        ds = lambda: sd.Dataset.from_tensors(bytes(record)).map(parse)
        if want is ERROR:
            c.raises(sd.errors.InvalidArgumentError, lambda: parse(bytes(record)))
            c.raises(sd.errors.InvalidArgumentError, lambda: list(ds()))
            continue
        have = plain(parse(bytes(record)))
        c.true(have == want, f"have {have}, want {want}")
        mapped = ds()
        c.true("python" not in mapped.explain().lower(), "native")
        have = [plain(e) for e in mapped]
        c.true(have == [want], f"in a map: have {have}, want {want}")


def test_batch():
    records = sd.Dataset.from_tensor_slices([bytes(A), bytes(B)] * 3)
    context = dict(FIXED, v=F.VarLenFeature(sd.int64))
    lists = dict(STEPS, w=F.VarLenFeature(sd.string))
    want = (
        {"n": [3, 4], "v": ("sparse", [[0, 0], [0, 1]], [1, 2], [2, 2])},
        {
            "x": [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [0.0, 0.0]]],
            "w": ("sparse", [[0, 0, 0], [0, 1, 0], [0, 1, 1]], [b"a", b"b", b"c"], [2, 3, 2]),
        },
        {"x": [2, 1]},
    )
    have = [plain(e) for e in records.batch(2).map(lambda r: sd.io.parse_sequence_example(r, context, lists))]
    c.true(have == [want] * 3, f"have {have[0]}, want {want}")
    more = {"w": F.RaggedFeature(sd.string), "i": F.FixedLenSequenceFeature([], sd.int64, allow_missing=True)}
    have = plain(sd.io.parse_sequence_example([bytes(A), bytes(B)], RAG[0], more))
    want = (
        {"v": ("ragged", [[1, 2], []])},
        {"w": ("ragged", [[[b"a"], [b"b", b"c"], []], []]), "i": [[7], [0]]},
        {"i": [1, 0]},
    )
    c.true(have == want, f"have {have}, want {want}")


def test_sparse_feature():
    a, b = sd.io.Example(i=[3, 1], j=[0, 2], v=[1.5, 2.5]), sd.io.Example(i=[0], j=[1], v=[7.5])
    uneven, none = sd.io.Example(i=[1, 2], j=[1, 2], v=[7.5]), sd.io.Example(q=[1])
    one = F.SparseFeature("i", "v", sd.float32, 4)
    two = F.SparseFeature(["i", "j"], "v", sd.float32, [4, 3])
    as_is = F.SparseFeature("i", "v", sd.float32, 4, already_sorted=True)
    for feature, record, want in (
        (one, a, ("sparse", [[1], [3]], [2.5, 1.5], [4])),
        (as_is, a, ("sparse", [[3], [1]], [1.5, 2.5], [4])),
        (two, a, ("sparse", [[1, 2], [3, 0]], [2.5, 1.5], [4, 3])),
        (one, none, ("sparse", [], [], [4])),
    ):
        parse = lambda r: sd.io.parse_single_example(r, {"s": feature})["s"]
        c.true(plain(parse(bytes(record))) == want, f"{feature}: {plain(parse(bytes(record)))}")
        ds = sd.Dataset.from_tensors(bytes(record)).map(parse)
        c.true([plain(e) for e in ds] == [want], f"{feature} in a map")
    for feature in (one, two, as_is):
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.io.parse_single_example(bytes(uneven), {"s": feature}))
    have = sd.io.parse_example([bytes(a), bytes(b), bytes(none)], {"s": one})["s"]
    c.true(plain(have) == ("sparse", [[0, 1], [0, 3], [1, 0]], [2.5, 1.5, 7.5], [3, 4]), f"{plain(have)}")


def test_errors():
    bad = sd.Dataset.from_tensor_slices([bytes(A), b"\x0a\xff", bytes(B)])
    it = iter(bad.map(lambda r: sd.io.parse_single_sequence_example(r, FIXED, STEPS)))
    c.same(int(next(it)[0]["n"]), 3)
    c.raises(sd.errors.InvalidArgumentError, lambda: next(it))
    c.same(int(next(it)[0]["n"]), 4)
    for context, lists in (({}, {}), (STEPS, {}), ({}, FIXED)):
        c.raises(ValueError, lambda: sd.io.parse_single_sequence_example(bytes(A), context, lists))


if __name__ == "__main__":
    c.main(globals())
