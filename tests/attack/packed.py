# SPDX-License-Identifier: Apache-2.0
"""Compressed profiles: those that inflate more than any profiler's output are rejected; long ones of real jobs are
read. MAKERS: name -> writes; `size` is that of other cases and not asked for here."""
import gzip
import struct
import zlib

from many_json import HEAD, kernel, launch, step
from many_xplane import block, event, line, name_of, number, varint

INFLATED = 160_000_000  # of what is refused
RATIO = 256             # up to which a compressed profile is read, regardless of content
FLOOR = 64 << 20        # and up to which any is
READ = 72_000_000       # of what is read: more than FLOOR
CHUNK = 1 << 20


def gzipped(path, parts):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with open(path, "wb") as f:
        for part in parts:
            f.write(packer.compress(part))
        f.write(packer.flush())


def zstd_runs(path, runs):
    """A frame of raw blocks and of runs of one byte: (bytes, None) or (byte, count). (RFC 8878)"""
    most = 1 << 17
    with open(path, "wb") as f:
        f.write(struct.pack("<IBB", 0xFD2FB528, 0, 7 << 3))
        for content, count in runs:
            for at in range(0, count or len(content), most):
                n = min(most, (count or len(content)) - at)
                f.write(struct.pack("<I", (n << 3) | (2 if count else 0))[:3] + (content if count else content[at:at + n]))
        f.write(struct.pack("<I", 1)[:3])


def repeated(unit, size):
    chunk = unit * (CHUNK // len(unit))
    for _ in range(size // len(chunk)):
        yield chunk


def field_of(number, size):
    """Tag and length of a field of that many bytes that are to come."""
    return varint(number << 3 | 2) + varint(size)


def xplane_names(path, size):
    chunks = list(repeated(block(4, b""), INFLATED))
    body = sum(len(c) for c in chunks)
    gzipped(path, [field_of(1, body + 11), block(2, b"/host:CPU"), *chunks])


def xplane_events(path, size):
    chunks = list(repeated(block(4, event(1, 5, 5)), INFLATED))
    body = sum(len(c) for c in chunks)
    head = block(2, b"/host:CPU") + block(4, name_of(1, b"a"))
    first = line(1, b"python", b"")
    of_line = field_of(3, body + len(first))
    gzipped(path, [field_of(1, len(head) + len(of_line) + len(first) + body), head, of_line, first, *chunks])


def xplane_zstd(path, size):
    """A name of that length."""
    name = field_of(2, INFLATED)
    value = field_of(2, len(name) + INFLATED)
    entry = number(1, 1) + value + name
    head = block(2, b"/host:CPU") + field_of(4, len(entry) + INFLATED) + entry
    zstd_runs(path, [(field_of(1, len(head) + INFLATED) + head, None), (b"a", INFLATED)])


def json_events(path, size):
    gzipped(path, [HEAD.encode(), *repeated(b'{"ph":"X","ts":1,"dur":1},', INFLATED), b"{}]}"])


def json_zstd(path, size):
    zstd_runs(path, [(HEAD.encode(), None), (b" ", INFLATED), (b"]}", None)])


def json_steps(path, size):
    """A job whose steps are alike: what differs are times and numbers, and the kernels carry long arguments."""
    more = ',"grid":[512,1,1],"block":[128,1,1],"Input Dims":[' + ",".join(["[64,128,56,56]"] * 40) + "]"
    written, k = 0, 0
    with gzip.open(path, "wt", compresslevel=6) as f:
        written += f.write(HEAD)
        while written < READ:
            ts = 1_000_000 + k * 20
            if k % 500 == 0:
                written += f.write(step(k // 500, ts) + ",\n")
            written += f.write(launch(k, ts) + ",\n" + kernel(k, ts + 5, more=more) + ",\n")
            k += 1
        f.write(kernel(k, 1_000_000 + k * 20) + "]}")


BOMBS = {
    "xplane-bomb-names": (xplane_names, ".gz"),
    "xplane-bomb-events": (xplane_events, ".gz"),
    "xplane-bomb-zstd": (xplane_zstd, ".zst"),
    "json-bomb-events": (json_events, ".gz"),
    "json-bomb-zstd": (json_zstd, ".zst"),
}
MAKERS = {**{name: make for name, (make, _) in BOMBS.items()}, "json-steps-packed": json_steps}
SUFFIXES = {**{name: suffix for name, (_, suffix) in BOMBS.items()}, "json-steps-packed": ".gz"}
CODES = {**{name: (5,) for name in BOMBS}, "json-steps-packed": (0, 4)}
TEXTS = {name: ("times", "decompress") for name in BOMBS}


INSIDE = {"perfetto-packed"}  # what is packed lies inside of the profile


def bytes_of(name, path):
    """Those that the formula counts: what is read of a compressed profile."""
    stored = path.stat().st_size
    if name in BOMBS or name in INSIDE:
        return max(FLOOR, RATIO * stored)
    return READ if name in MAKERS else stored
