# SPDX-License-Identifier: Apache-2.0
"""Profiles in which every text has a mark, to find texts that are shown where they must not be.

mark(kind, data, change) gives the profile with change(text) for every text that a user may have chosen: names of events,
threads, processes, hosts and counters, values of arguments, notes. What the format itself has stays as it is: keys,
phases, categories, numbers, names of planes, lines and devices."""
import json
import os
import sqlite3
import struct
import sys
import tempfile

import mutators

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
from make_seeds import crc32c  # noqa: E402

MARK = "Qz7SECRETq"
# A text that stays: readers know it by these words, or it is a product's.
KEPT = {"traceEvents", "rank", "/host:CPU", "/host:metadata", "Task Environment", "Steps", "XLA Modules", "XLA Ops", "Framework Ops", "python", "Python"}


def suffix(text):
    return text + MARK


def prefix(text):
    return MARK + text


def below(text):
    """The last of a path that begins with a name that is known."""
    return f"{text} > {MARK}"


def inside(text):
    """Among the parts of a name, where templates, calls and scopes have theirs."""
    for mark in ("<", "(", "#", "::", ":", "["):
        at = text.rfind(mark)
        if at >= 0:
            at += len(mark)
            return text[:at] + MARK + text[at:]
    return text[: len(text) // 2] + MARK + text[len(text) // 2 :]


CHANGES = (suffix, prefix, below, inside)


# ---- Chrome JSON

STRUCTURE = {"ph", "cat", "id", "bp", "s", "displayTimeUnit", "Input type", "Input Dims", "Concrete Inputs", "dtype", "Collective name"}


def mark_value(value, change, key=None):
    if isinstance(value, dict):
        return {k: v if k == "deviceProperties" else mark_value(v, change, k) for k, v in value.items()}
    if isinstance(value, list):
        return [mark_value(v, change, key) for v in value]
    if isinstance(value, str) and value and key not in STRUCTURE and not value.lstrip("-").replace(".", "").isdigit():
        return change(value)
    return value


# What the hooks of a run tell of the program: each place is shown by some finding.
TOLD = {"stoker": {**{k: f"{k} ({k}.py:3)" for k in ("loop", "loader", "makes")}, "eval_every": 7, "eval_ns": 9000000,
                   **{k: f"f{k} ({k}.py:5)" for k in ("fetch0", "fetch1", "line0", "line1", "line2", "eval")},
                   **{f"{k}_permille": 300 for k in ("fetch0", "fetch1", "line0", "line1", "line2", "eval")}}}  # fmt: skip


def mark_event(event, change):
    out = mark_value(event, change)
    if isinstance(event, dict) and event.get("ph") == "M":
        out["name"] = event.get("name")  # which of a process' or thread's facts it is
    return out


def mark_chrome(data, change):
    doc = json.loads(data)
    events = doc["traceEvents"] if isinstance(doc, dict) else doc
    events[:] = [mark_event(e, change) for e in events]
    if isinstance(doc, dict):
        doc = {**TOLD, **doc}
        doc = {k: v if k in ("traceEvents", "deviceProperties", "displayTimeUnit") else mark_value(v, change, k) for k, v in doc.items()}
    return json.dumps(doc).encode()


# ---- protobuf: a field of bytes that are a printable text is one


def is_text(data):
    try:
        return len(data) > 1 and data.decode().isprintable()
    except UnicodeDecodeError:
        return False


def mark_message(data, change, stays):
    """`stays(path)` says of the numbers of the fields down to a text that it is the format's own."""
    def walk(data, path):
        fields = mutators.fields_of(data)
        if fields is None:
            return data
        out = bytearray()
        for field, kind, value in fields:
            here = (*path, field)
            if kind == 2 and is_text(value):
                text = value.decode()
                value = value if text in KEPT or stays(here, text) else change(text).encode()
            elif kind == 2:
                value = walk(value, here)
            out += mutators.varint(field << 3 | kind)
            out += mutators.varint(value) if kind == 0 else mutators.varint(len(value)) + value if kind == 2 else value
        return bytes(out)

    return walk(data, ())


def referred(data):
    """Numbers of the names of statistics that are values of others."""
    found = set()
    for field, kind, value in mutators.fields_of(data) or ():
        if kind == 2 and not is_text(value):
            found |= referred(value)
        elif field == 7 and kind == 0:
            found.add(value)
    return found


def mark_xplane(data, change):
    def stays(path, text):
        return path in ((1, 2), (1, 3, 2)) or path[:2] == (1, 5)  # planes; lines; keys of values
    return mark_message(data, change, stays)


def mark_perfetto(data, change):
    """Keys of annotations stay (their interned names: 12.3; written out: 11.4.10)."""
    def stays(path, text):
        return path[1:3] == (12, 3) or path[1:4] == (11, 4, 10) or path[1:] in ((60, 10), (12, 1, 2), (11, 22))
    return mark_message(data, change, stays)


# ---- SQLite


def mark_nsys(data, change):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.sqlite")
        with open(path, "wb") as f:
            f.write(data)
        db = sqlite3.connect(path, isolation_level=None)
        db.create_function("changed", 1, change)
        for (table,) in list(db.execute("select name from sqlite_master where type = 'table'")):
            if table.startswith(("ENUM", "META", "TARGET_INFO_GPU", "EXPORT")):
                continue
            for row in list(db.execute(f'pragma table_info("{table}")')):
                db.execute(f'update "{table}" set "{row[1]}" = changed("{row[1]}") where typeof("{row[1]}") = \'text\' and length("{row[1]}") > 0')
        db.close()
        with open(path, "rb") as f:
            return f.read()


# ---- stoker's own records


def mark_strings(payload, change):
    out, at = bytearray(), 0
    while at + 8 <= len(payload):
        number, n = struct.unpack_from("<II", payload, at)
        text = bytes(payload[at + 8 : at + 8 + n])
        new = change(text.decode()).encode() if text else text
        out += struct.pack("<II", number, len(new)) + new + bytes(-len(new) % 8)
        at += 8 + n + -n % 8
    return out


def mark_stk(data, change):
    start, blocks = mutators.blocks_of(data)
    out = bytearray(start)
    for head, payload in blocks:
        if head[1] == 1:
            payload = mark_strings(payload, change)
        head[3], head[7], head[8] = len(payload), crc32c(payload), 0
        head[8] = crc32c(struct.pack(mutators.HEAD, *head))
        out += struct.pack(mutators.HEAD, *head) + payload
    return bytes(out)


MARKS = {"chrome": mark_chrome, "xplane": mark_xplane, "perfetto": mark_perfetto, "nsys": mark_nsys, "stk": mark_stk}


def mark(kind, data, change):
    return MARKS[kind](data, change)
