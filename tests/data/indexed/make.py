#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the indexed files of this folder (by stoker.data itself), and lines. Seeds of fuzz_indexed."""
import os

import numpy as np

import stoker.data as sd

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, ds):
    path = os.path.join(HERE, name)
    for _ in ds.cache(path):
        pass
    os.rename(path + ".stkidx" if os.path.exists(path + ".stkidx") else path, path)


write("numbers.stkidx", sd.Dataset.range(9))
write("texts.stkidx", sd.Dataset.from_tensor_slices(["", "a", "longer than eight bytes"]))
write("ragged.stkidx", sd.Dataset.range(7).map(lambda i: (sd.range(i), sd.fill([i, 2], 0.5))))
write("mixed.stkidx", sd.Dataset.range(5).map(lambda i: (i, sd.as_string(i), sd.stack(["x", "yy"]))))
unknown = sd.TensorSpec(None, "int32")
write("ranks.stkidx", sd.Dataset.from_generator(
    lambda: (np.zeros((2,) * k, np.int32) for k in range(4)), output_signature=unknown))
write("empty.stkidx", sd.Dataset.range(0))
with open(os.path.join(HERE, "lines.txt"), "w", newline="") as f:
    f.write("one\ntwo\r\n\nlast without an end")
