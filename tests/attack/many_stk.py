# SPDX-License-Identifier: Apache-2.0
"""stoker's own records with many different things of one kind. MAKERS: name -> writes about `size` bytes."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
from make_seeds import Wire  # noqa: E402

STRINGS, TRACKS, EVENTS, STEPS, STAGES, LOSSES, END = 1, 2, 3, 4, 5, 7, 9
BATCH = 2000  # records of a block


def string(k, text):
    data = text.encode()
    return STRINGS, struct.pack("<II", k, len(data)) + data + bytes(-len(data) % 8)


def track(k, device=-1):
    return TRACKS, struct.pack("<IIqiI", k, int(device >= 0), k, device, 0)


def event(k, name, on, kind=0, correlation=0):
    return EVENTS, struct.pack("<QQIIIIQ", 10**9 + k * 20_000, 9000, name, on, kind, 1, correlation)


def stage(k, name, number):
    return STAGES, struct.pack("<8Q4I", 10**9 + k, 20, 0, 0, 1000, 0, 0, name | number << 32, 0, 1, 0, 0)


KINDS = {
    "threads": lambda k: [track(k), event(k, 0, k)],
    "threads-only": lambda k: [track(k)],
    "devices": lambda k: [track(k, device=k), event(k, 0, k, kind=2, correlation=k)],
    "names": lambda k: [string(k, f"n{k}"), event(k, k, 1)],
    "names-only": lambda k: [string(k, f"n{k}")],
    "input-stages": lambda k: [string(k, f"Iterator::Map::Batch{k}"), event(k, k, 1, kind=8)],
    "limits": lambda k: [string(k, f"stoker.data limit: {k:020d}|work|a.py:{k}|Map|50")],
    "stages": lambda k: [string(k, f"s{k}"), stage(k, k, k & 0xFFFFFFFF)],
    "steps": lambda k: [(STEPS, struct.pack("<QQQII", 10**9 + k * 20_000, 19_000, k, 1, 0))],
    "correlations": lambda k: [event(k, 0, 1, kind=1, correlation=k), event(k, 0, 1, kind=2, correlation=k + 1)],
    "losses": lambda k: [(LOSSES, struct.pack("<QII", 1, k, 0))],
    "blocks-unknown": lambda k: [(100 + k % 1000, bytes(8))],
}


def records(rows_of):
    def make(path, size):
        wire, first, written = Wire(), 1, 0
        with open(path, "wb") as f:
            wire.block(TRACKS, 1, track(1)[1])
            while written < size:
                blocks = {}
                for k in range(first, first + BATCH):
                    for kind, record in rows_of(k):
                        blocks.setdefault(kind, []).append(record)
                for kind in sorted(blocks):  # strings and tracks come before who names them
                    wire.block(kind, len(blocks[kind]), b"".join(blocks[kind]), 10**9, 2 * 10**9)
                first += BATCH
                written += f.write(wire.out)
                wire.out = b""
            wire.block(END, 0, b"")
            f.write(wire.out)
    return make


MAKERS = {f"stk-{kind}": records(rows_of) for kind, rows_of in KINDS.items()}
