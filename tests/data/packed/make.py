#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the packed files of this folder (by stoker.data itself). Seeds of fuzz_packed.

Before each file stands the byte by which the target chooses how to read it (fuzz_packed.c): NAME is
its records, each behind its length in two bytes, and NAME_file a file as snapshots write it.
"""
import gzip
import os
import pathlib
import struct
import tempfile

import numpy as np

import stoker.data as sd

HERE = os.path.dirname(os.path.abspath(__file__))
AS_FILE, AS_RECORDS, MANY = 0, 1, 2


def records(file):
    while file:
        (size,) = struct.unpack("<Q", file[:8])
        yield file[12:12 + size]
        file = file[16 + size:]


def write(name, ds, keeps_file=False):
    with tempfile.TemporaryDirectory() as folder:
        for _ in ds.snapshot(folder, compression="GZIP"):
            pass
        (path,) = pathlib.Path(folder).glob("*.stkpack.gz")
        file = path.read_bytes()
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(bytes([AS_RECORDS | MANY]))
        for record in records(gzip.decompress(file)):
            f.write(struct.pack("<H", len(record)) + record)
    if keeps_file:
        with open(os.path.join(HERE, name + "_file"), "wb") as f:
            f.write(bytes([AS_FILE | MANY]) + file)


write("numbers", sd.Dataset.range(9))
write("texts", sd.Dataset.from_tensor_slices(["", "a", "longer than eight bytes"]))
write("ragged", sd.Dataset.range(5).map(lambda i: (sd.range(i), sd.fill([i, 2], 0.5))))
write("mixed", sd.Dataset.range(3).map(lambda i: (i, sd.as_string(i), sd.stack(["x", "yy"]))), keeps_file=True)
unknown = sd.TensorSpec(None, "int32")
write("ranks", sd.Dataset.from_generator(
    lambda: (np.zeros((2,) * k, np.int32) for k in range(4)), output_signature=unknown))
write("empty", sd.Dataset.range(0))
