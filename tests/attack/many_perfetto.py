# SPDX-License-Identifier: Apache-2.0
"""Perfetto traces with very many of one thing. MAKERS: name -> function (path, bytes)."""

import itertools
import zlib

from many_xplane import block, number, varint


def packet(body, time=None, flags=2):
    return block(1, (number(8, time) if time is not None else b"") + number(10, 1) + number(13, flags) + body)


def interned(table, *texts):
    return block(12, b"".join(block(table, number(1, i + 1) + block(2, t)) for i, t in enumerate(texts)))


def descriptor(uuid, name):
    return packet(block(60, number(1, uuid) + block(2, name)))


def slice_of(uuid, at, more=b""):
    return packet(block(11, number(9, 1) + number(11, uuid) + more), at) + packet(block(11, number(9, 2) + number(11, uuid)), at + 5)


START = packet(interned(2, b"k" * 4096) + interned(1, b"kernel"), flags=1) + packet(block(12, block(29, number(1, 1) + block(2, b"v" * 4096)) + block(3, number(1, 1) + block(2, b"n" * 4096))))


def tracks():
    return (descriptor(i, b"t%d" % i) + slice_of(i, 1000 + i) for i in itertools.count(10))


def names():
    """Every event has the longest interned name, and the longest text twice."""
    for i in itertools.count():
        yield slice_of(1, 1000 * i, number(10, 1) + number(3, 1) + 2 * block(4, number(1, 1) + number(17, 1)))


def texts():
    for i in itertools.count(1):
        yield packet(block(12, block(2, number(1, i) + block(2, b"a"))))


def devices():
    def said(key, value):
        return block(4, block(10, key) + number(4, value))

    for i in itertools.count():
        yield slice_of(1, 1000 * i, number(3, 1) + number(10, 1) + said(b"device", i) + said(b"stream", i))


def halves():
    """Begins alone, then times that go back."""
    for i in itertools.count():
        yield packet(block(11, number(9, 1) + number(11, i % 7)), (i * 7919) % 1000003)


def sequences():
    return (block(1, number(10, i) + number(13, 1)) for i in itertools.count(1))


def clocks():
    return (block(1, number(10, i) + block(6, block(1, number(1, 64 + i % 60) + number(2, i)))) for i in itertools.count(1))


def rings():
    """Tracks whose parents lead around."""
    for i in itertools.count(1):
        yield packet(block(60, number(1, i) + number(5, i ^ 1))) + slice_of(i, 1000 * i)


def stages():
    for i in itertools.count():
        yield packet(block(53, number(1, i) + number(2, 10) + number(13, i) + number(11, i % 5000)), 100 * i)


def values():
    made = 8 * b"\x00"
    for i in itertools.count():
        yield packet(block(11, number(9, 4) + number(11, i % 1000) + varint(44 << 3 | 1) + made), i)


def packed():
    """Packets in packed ones: as much as is let through."""
    body = b"".join(itertools.islice(halves(), 200_000))
    while True:
        yield block(1, block(50, zlib.compress(body)))


def own_tracks():
    """What says that it is of stoker's own export, with a track for each row of facts."""
    def fact(what, **v):
        return packet(block(11, number(9, 3) + number(3, 1) + block(23, what) + b"".join(block(4, block(10, k.encode()) + number(4, x)) for k, x in v.items())), 10)

    yield packet(interned(1, b"stoker_facts", b"kernel"), flags=1) + fact(b"process", number=0, pid=1)
    for i in itertools.count(1):
        yield fact(b"track", track=i, number=i, kind=0, process=0, id=i) + packet(block(11, number(9, 3) + number(11, i) + number(3, 2)), i)


KINDS = {"tracks": tracks, "names": names, "texts": texts, "devices": devices, "halves": halves, "sequences": sequences, "clocks": clocks,
         "rings": rings, "stages": stages, "values": values, "packed": packed, "own": own_tracks}


def profile(content):
    def make(path, size):
        with open(path, "wb") as f:
            f.write(START if content is not own_tracks else b"")
            for piece in content():
                if f.tell() >= size:
                    break
                f.write(piece)

    return make


MAKERS = {f"perfetto-{kind}": profile(content) for kind, content in KINDS.items()}
