#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A custom operation in C, within a traced map: no Python per element.

Builds normalise_rows.c next to this file (needs a C compiler) and uses it.
"""

import functools
import os
import shutil
import subprocess
import tempfile

import numpy as np
import stoker.data as sd

import timing

HERE = os.path.dirname(os.path.abspath(__file__))


@functools.cache
def operations():
    """The plug-in of the C file, built now."""
    compiler = os.environ.get("CC", "cc")
    if not shutil.which(compiler):
        raise ImportError(f"no C compiler ({compiler})")
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "normalise_rows.so")
        command = [compiler, "-shared", "-fPIC", "-O2", f"-I{sd.get_include()}"]
        source = os.path.join(HERE, "normalise_rows.c")
        subprocess.run(command + [source, "-lm", "-o", library], check=True)
        return sd.load_op_library(library)


@functools.cache
def tables(is_small):
    n = 500 if is_small else 20000
    return np.random.default_rng(1).normal(size=(n, 8, 64)).astype(np.float32)


def count(ds):
    return sum(len(batch) for batch in ds.batch(100))


def in_numpy(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-6))


def before(is_small):
    """NumPy, called for each element."""
    source = sd.Dataset.from_tensor_slices(tables(is_small))
    return count(source.map(lambda x: sd.numpy_function(in_numpy, [x], "float32")))


def after(is_small):
    """The operation in C."""
    own = operations()
    source = sd.Dataset.from_tensor_slices(tables(is_small))
    return count(source.map(lambda x: own.normalise_rows(x), sd.AUTOTUNE))


def words(is_small):
    """An operation whose results differ in length."""
    own = operations()
    texts = sd.Dataset.from_tensors("a few words of different length").repeat(100 if is_small else 10000)
    found = [w.tolist() for w in texts.map(lambda s: own.keep_words(s, least=4))]
    assert found[0] == [b"words", b"different", b"length"]
    return len(found)


if __name__ == "__main__":
    timing.main("an operation of one's own, in C", (before, after, words), "elements")
