#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An operation of one's own, in C, inside of a traced map: no Python for the elements.

Builds normalise_rows.c beside this file (a C compiler is needed) and uses it.
"""

import os
import subprocess
import tempfile
import time

import numpy as np
import stoker.data as sd


def build(source, folder):
    """The plug-in of a C file."""
    library = os.path.join(folder, "normalise_rows.so")
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", f"-I{sd.get_include()}"]
    subprocess.run(command + [source, "-lm", "-o", library], check=True)
    return sd.load_op_library(library)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        own = build(os.path.join(here, "normalise_rows.c"), folder)
    tables = np.random.default_rng(1).normal(size=(20000, 8, 64)).astype(np.float32)

    def in_numpy(x):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-6))

    source = sd.Dataset.from_tensor_slices(tables)
    native = source.map(lambda x: own.normalise_rows(x), sd.AUTOTUNE).batch(100)
    python = source.map(lambda x: sd.numpy_function(in_numpy, [x], "float32")).batch(100)
    for name, ds in (("plug-in", native), ("NumPy", python)):
        start, batches = time.perf_counter(), list(ds)
        print(f"{name}: {time.perf_counter() - start:.2f} s, first value {batches[0][0, 0, 0]:.4f}")
    words = sd.Dataset.from_tensors("a few words of different length")
    print(next(iter(words.map(lambda s: own.keep_words(s, least=4)))).tolist())


if __name__ == "__main__":
    main()
