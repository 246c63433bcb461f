# SPDX-License-Identifier: Apache-2.0
"""Profiles damaged with knowledge of their format: what is changed is a value, a record, a table or a message, and
only now and then a byte. mutate(format, data, random) -> bytes; formats are the readers' names."""

import copy
import json
import os
import pathlib
import sqlite3
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
from make_seeds import crc32c  # noqa: E402

INTS = [0, 1, -1, 2, 7, 99, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1, -(2**63), 10**15, 10**18]
WIDE = [2**63, 2**64 - 1, 10**30, -(10**30)]
REALS = [0.0, -0.0, 0.001, 1.5, 1e-300, 1e15, 1e308, -1e308, float("inf"), float("nan")]
TEXTS = ["", "x", "0", "-1", "1e999", "a" * 300, "\x1b[31m", "\u202e", "=1+1", "\0", "ProfilerStep#3", "ProfilerStep#99999999999",
         "ncclDevKernel_AllReduce", "Memcpy HtoD (Pageable -> Device)", "%s%n", "é" * 50, "/host:CPU", "Iterator::Map", "\ud800",
         "gemm<float, 4>(int)", "cudaLaunchKernel", "[memory]", "stoker.data limit: "]

MOST = 8_000_000  # bytes of a mutant


def nasty(r):
    kind = r.random()
    if kind < 0.45:
        return r.choice(INTS)
    if kind < 0.55:
        return r.choice(WIDE)
    if kind < 0.7:
        return r.choice(REALS)
    if kind < 0.95:
        return r.choice(TEXTS)
    return r.choice([None, True, [], {}, [1, [2, [3]]], {"a": {"b": 1}}])


def text_bytes(r):
    return r.choice(TEXTS).encode("utf-8", "surrogatepass")


# ---- bytes


def change_bytes(data, r):
    out = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 8))):
        at, n = r.randrange(len(out) + 1), r.choice((1, 1, 2, 4, 8, 64, 1000))
        what = r.randrange(7)
        if what == 0 and out:
            out[at % len(out)] ^= 1 << r.randrange(8)
        elif what == 1:
            out[at : at + n] = b""
        elif what == 2:
            out[at:at] = r.randbytes(n)
        elif what == 3:
            out[at:at] = out[at : at + n]
        elif what == 4:
            out[at : at + 8] = struct.pack("<q", r.choice(INTS))
        elif what == 5:
            other = r.randrange(len(out) + 1)
            out[at : at + n] = out[other : other + n]
        else:
            del out[at:]
    return bytes(out)


# ---- Chrome JSON


def change_object(o, others, r):
    """A key of an event or of its arguments."""
    inner = o.get("args")
    if isinstance(inner, dict) and inner and r.random() < 0.5:
        o = inner
    what, keys = r.randrange(5), list(o)
    key = r.choice(keys) if keys else "name"
    if what == 0:
        o.pop(key, None)
    elif what == 1:
        o[r.choice((key, "ts", "dur", "pid", "tid", "ph", "name", "cat", "args", "id", "correlation", "stream"))] = nasty(r)
    elif what == 2:
        other = r.choice(others)
        if isinstance(other, dict) and key in other:
            o[key] = copy.deepcopy(other[key])  # it may hold o
    elif what == 3 and isinstance(o.get(key), (int, float)):
        o[key] = o[key] + r.choice((1, -1, 0.5, 10**6, -(10**6), 10**12))
    else:
        o[key] = nasty(r)


def change_events(events, r):
    what, at = r.randrange(12), r.randrange(len(events))
    if what < 6:
        if isinstance(events[at], dict):
            change_object(events[at], events, r)
    elif what == 6:
        events[at:at] = [events[at]] * r.choice((1, 2, 30, 300))
    elif what == 7:
        del events[at : at + r.choice((1, 2, 10))]
    elif what == 8:
        events[at] = nasty(r)
    elif what == 9:
        r.shuffle(events)
    elif what == 10:
        key, value = r.choice(("ts", "dur", "pid", "tid", "name", "cat", "ph")), nasty(r)
        for e in events:
            if isinstance(e, dict) and r.random() < 0.5:
                e[key] = value
    else:
        events.append(r.choice(events))


def change_chrome(data, r):
    try:
        doc = json.loads(data)
    except (ValueError, RecursionError):
        return change_bytes(data, r)
    events = doc.get("traceEvents") if isinstance(doc, dict) else doc
    for _ in range(r.choice((1, 2, 3, 10))):
        if isinstance(events, list) and events and r.random() < 0.9:
            change_events(events, r)
        elif isinstance(doc, dict):
            key = r.choice([*doc, "deviceProperties", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds"])
            doc[key] = nasty(r)
    how = {"ensure_ascii": r.random() < 0.7, "indent": r.choice((None, None, 1)), "separators": r.choice((None, (",", ":")))}
    return json.dumps(doc, **how).encode("utf-8", "surrogatepass")


# ---- protobuf


def varint(value):
    value %= 1 << 64
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def read_varint(data, at):
    value = shift = 0
    while shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    raise ValueError("no varint")


def fields_of(data):
    """[(field, wire type, value)], None where the bytes are no message."""
    out, at = [], 0
    try:
        while at < len(data):
            key, at = read_varint(data, at)
            kind = key & 7
            if kind == 0:
                value, at = read_varint(data, at)
            elif kind in (1, 5):
                n = 8 if kind == 1 else 4
                value, at = data[at : at + n], at + n
            elif kind == 2:
                n, at = read_varint(data, at)
                value, at = data[at : at + n], at + n
            else:
                return None
            if at > len(data) or key >> 3 == 0:
                return None
            out.append((key >> 3, kind, value))
    except (IndexError, ValueError):
        return None
    return out


def message_of(fields, r):
    out = bytearray()
    for field, kind, value in fields:
        out += varint(field << 3 | kind)
        if kind == 0:
            out += varint(value)
        elif kind == 2:
            n = len(value) if r.random() < 0.999 else r.choice(INTS)
            out += varint(n) + value
        else:
            out += value
    return bytes(out)


def change_value(kind, value, r):
    if kind == 0:
        return r.choice([*INTS, *WIDE, value + 1, value * 1000])
    if kind == 2:
        return r.choice((text_bytes, lambda r: change_bytes(value, r), lambda r: value * r.choice((2, 20))))(r)
    return r.randbytes(8 if kind == 1 else 4)


def change_message(data, r, depth=0):
    fields = fields_of(data)
    if not fields:
        return change_bytes(data, r) if data else text_bytes(r)
    at = r.randrange(len(fields))
    field, kind, value = fields[at]
    if kind == 2 and depth < 7 and r.random() < 0.8:
        fields[at] = field, kind, change_message(value, r, depth + 1)
        return message_of(fields, r)
    what = r.randrange(7)
    if what == 0:
        del fields[at]
    elif what == 1:
        n = len(value) if kind == 2 else 1
        fields[at:at] = [fields[at]] * min(r.choice((1, 2, 50, 500)), MOST // (n + 1))
    elif what == 2:
        fields[at] = r.randrange(1, 16), kind, value
    elif what == 3:
        other = r.randrange(len(fields))
        fields[at], fields[other] = fields[other], fields[at]
    elif what == 4:
        fields.append((r.randrange(1, 16), 0, r.choice([*INTS, *WIDE])))
    else:
        fields[at] = field, kind, change_value(kind, value, r)
    return message_of(fields, r)


def change_xplane(data, r):
    for _ in range(r.choice((1, 2, 3, 10))):
        data = change_message(data, r)
    return data


def change_perfetto(data, r):
    """Messages as above; packets in another order, and their sequences and flags."""
    for _ in range(r.choice((1, 2, 3, 10))):
        data = change_message(data, r)
    if r.random() < 0.3:
        fields = fields_of(data)
        if fields:  # none: it is no message any more
            r.shuffle(fields)
            data = message_of(fields, r)
    return data


# ---- SQLite


def cell(r):
    value = nasty(r)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = float(value)
    if isinstance(value, str):
        return text_bytes(r) if r.random() < 0.3 else value.replace("\ud800", "?")
    return r.choice((None, b"", b"\0" * 100)) if isinstance(value, (list, dict)) else value


def change_table(db, table, r):
    columns = [row[1] for row in db.execute(f'pragma table_info("{table}")')]
    if not columns:
        return
    column, what = r.choice(columns), r.randrange(11)
    some = f'rowid in (select rowid from "{table}" order by random() limit {r.choice((1, 1, 3, 100))})'
    if what < 4:
        db.execute(f'update "{table}" set "{column}" = ? where {some}', (cell(r),))
    elif what == 4:
        db.execute(f'delete from "{table}" where {some}')
    elif what == 5:
        names = ", ".join(f'"{c}"' for c in columns if c.lower() != "id")
        for _ in range(r.choice((1, 1, 5))):
            db.execute(f'insert into "{table}" ({names}) select {names} from "{table}" limit 2000')
    elif what == 6:
        db.execute(f'alter table "{table}" rename column "{column}" to "{r.choice(("start", "end", "x", "rowid", "id"))}"')
    elif what == 7:
        db.execute(f'alter table "{table}" drop column "{column}"')
    elif what == 8:
        db.execute(f'update "{table}" set rowid = ? where {some}', (r.choice(INTS),))
    elif what == 9:
        db.execute(f'update "{table}" set "{column}" = "{r.choice(columns)}" + ?', (r.choice(INTS),))
    else:
        change_schema(db, table, columns, r)


def change_schema(db, table, columns, r):
    what = r.randrange(5)
    names = ", ".join(f'"{c}"' for c in columns)
    if what == 0:
        db.execute(f'drop table "{table}"')
    elif what == 1:
        db.execute(f'alter table "{table}" rename to hidden_table')
        db.execute(f'create view "{table}" as select * from hidden_table')
    elif what == 2:
        db.execute(f'create table copied as select {names} from "{table}"')
        db.execute(f'drop table "{table}"')
        db.execute(f'create table "{table}"({names}, primary key({columns[0]})) without rowid')
        db.execute(f'insert or ignore into "{table}" select * from copied')
    elif what == 3:
        db.execute("pragma writable_schema = on")
        db.execute("update sqlite_master set sql = ? where name = ?", (r.choice((None, "", "create table x(", "create view v as select 1")), table))
    else:
        db.execute("pragma writable_schema = on")
        db.execute("update sqlite_master set rootpage = ? where name = ?", (r.choice(INTS), table))


def change_nsys(data, r):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.sqlite")
        with open(path, "wb") as f:
            f.write(data)
        db = sqlite3.connect(path, isolation_level=None)
        try:
            db.execute("pragma journal_mode = off")
            tables = [row[0] for row in db.execute("select name from sqlite_master where type = 'table' order by name")]
            for _ in range(r.choice((1, 2, 3, 10))):
                try:
                    change_table(db, r.choice(tables), r)
                except sqlite3.Error:  # what the schema no longer allows
                    pass
        except (sqlite3.Error, IndexError, MemoryError):  # the schema is no longer valid
            pass
        finally:
            db.close()
        with open(path, "rb") as f:
            return f.read()


# ---- stoker's own records

HEAD = "<IHHIIIIIIQQ"


def blocks_of(data):
    """The file's header, and its blocks as [fields of the header, payload]."""
    out, at = [], 64
    while at + 48 <= len(data):
        head = list(struct.unpack_from(HEAD, data, at))
        out.append([head, bytearray(data[at + 48 : at + 48 + head[3]])])
        at += 48 + head[3]
    return bytearray(data[:64]), out


def change_stk(data, r):
    start, blocks = blocks_of(data)
    was = {id(payload): bytes(payload) for _, payload in blocks}  # whose checksum is there: computing it is slow
    for _ in range(r.choice((1, 2, 3, 10))):
        if not blocks or len(start) < 64:
            return change_bytes(data, r)
        what, at = r.randrange(8), r.randrange(len(blocks))
        head, payload = blocks[at]
        if what < 3 and len(payload) >= 8:
            place = r.randrange(len(payload) // 4) * 4
            payload[place : place + 4] = struct.pack("<I", r.choice((0, 1, 2, 9, 2**31, 2**32 - 1, r.getrandbits(32))))
        elif what == 3 and len(payload) >= 8:
            place = r.randrange(len(payload) // 8) * 8
            payload[place : place + 8] = struct.pack("<Q", r.choice(INTS) % (1 << 64))
        elif what == 4:
            blocks[at:at] = [[list(head), bytearray(payload)] for _ in range(r.choice((1, 2, 100)))]
        elif what == 5:
            del blocks[at]
        elif what == 6:
            head[r.choice((1, 2, 4, 5, 6))] = r.choice((0, 1, 3, 9, 60000))
        else:
            r.shuffle(blocks)
    out = bytearray(start)
    for head, payload in blocks:
        head[3] = len(payload) if r.random() < 0.98 else r.choice((0, 8, 2**31))
        if was.get(id(payload)) != payload:
            head[7] = crc32c(payload)
        head[8] = 0
        head[8] = crc32c(struct.pack(HEAD, *head))
        out += struct.pack(HEAD, *head) + payload
    return bytes(out)


CHANGES = {"chrome": change_chrome, "xplane": change_xplane, "nsys": change_nsys, "stk": change_stk, "perfetto": change_perfetto}


def mutate(kind, data, r):
    out = CHANGES[kind](data, r)
    return (change_bytes(out, r) if r.random() < 0.25 else out)[:MOST]
