#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rate of remote files: objects of a local HTTP server with limited rate and a latency, read as records by
stoker.data into an empty cache, relative to that rate.

Usage: PYTHONPATH=build/release/python bench/data/bench_remote.py [RATE [LATENCY [MB [COUNT]]]]
By default 200 MB/s, 0.02 s, 64 MB, 12 objects. Needs fsspec and aiohttp.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import stoker.data as sd

SERVER = pathlib.Path(__file__).resolve().parents[2] / "tests/py/object_server.py"


def main(rate="200", latency="0.02", size="64", count="12"):
    rate, size, count = float(rate) * 1e6, int(float(size) * 1e6), int(count)
    args = [sys.executable, str(SERVER), "0", str(size), str(count), str(rate), latency]
    with subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        url = server.stdout.readline().strip()
        names = [f"{url}{k}.bin" for k in range(count)]
        with tempfile.TemporaryDirectory(prefix="bench-remote-") as folder:
            sd.remote.configure(cache=f"{folder}/cache", cache_bytes=1 << 30)
            for what in ("an empty cache", "a full cache"):
                start, got = time.perf_counter(), 0
                for batch in sd.FixedLengthRecordDataset(names, 100_000).batch(32):
                    got += len(batch) * 100_000
                seconds = time.perf_counter() - start
                print(f"{what}: {got / seconds / 1e6:.0f} MB/s, {got / seconds / rate:.1%} of {rate / 1e6:.0f} MB/s")
        server.stdin.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
