# SPDX-License-Identifier: Apache-2.0
"""Pieces of large profiles: a few hundred consecutive events with what they need (names of processes and threads,
device properties, a database's schema and names). A reader takes the same code paths for a piece as for the whole, in
a hundredth of the time. pieces_of(format, data, random, count) -> [bytes]; formats without pieces give the whole.

Limits: cuts follow the order in the file, so a launch may be apart from its kernel."""

import json
import os
import sqlite3
import tempfile

from mutators import fields_of, varint

EVENTS = (30, 100, 400)
META_MOST = 200  # a Chrome trace's events that only name something
NAMES = {"StringIds", "META_DATA_CAPTURE", "META_DATA_EXPORT", "TARGET_INFO_GPU", "EXPORT_META_DATA"}  # of nsys: kept as they are


def chrome_pieces(data, r, count):
    try:
        doc = json.loads(data)
    except (ValueError, RecursionError):
        return [data]
    events = doc.get("traceEvents") if isinstance(doc, dict) else doc
    if not isinstance(events, list) or len(events) <= EVENTS[-1]:
        return [data]
    meta = [e for e in events if isinstance(e, dict) and e.get("ph") == "M"][:META_MOST]
    rest = [e for e in events if not (isinstance(e, dict) and e.get("ph") == "M")]
    out = []
    for _ in range(count):
        n = r.choice(EVENTS)
        at = r.randrange(max(1, len(rest) - n))
        some = meta + rest[at : at + n]
        out.append(json.dumps({**doc, "traceEvents": some} if isinstance(doc, dict) else some).encode("utf-8", "surrogatepass"))
    return out


def cut_tables(db, r):
    """Keeps a row of consecutive rows of each table; a name stays if a row that stays may use it."""
    share, n = r.random(), r.choice(EVENTS)
    for (table,) in db.execute("select name from sqlite_master where type = 'table'").fetchall():
        if table not in NAMES and not table.startswith("sqlite_"):
            low, high = db.execute(f'select min(rowid), max(rowid) from "{table}"').fetchone()
            if high is not None and high - low >= n:
                first = low + int((high - low - n) * share)
                db.execute(f'delete from "{table}" where rowid < ? or rowid >= ?', (first, first + n))
    db.execute("vacuum")


def nsys_pieces(data, r, count):
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            path = os.path.join(folder, f"{i}.sqlite")
            with open(path, "wb") as f:
                f.write(data)
            db = sqlite3.connect(path, isolation_level=None)
            try:
                db.execute("pragma journal_mode = off")
                cut_tables(db, r)
            except sqlite3.Error:
                return [data]
            finally:
                db.close()
            with open(path, "rb") as f:
                out.append(f.read())
    return out


def encoded(fields):
    return b"".join(varint(f << 3 | kind) + (varint(v) if kind == 0 else varint(len(v)) + v if kind == 2 else v) for f, kind, v in fields)


def cut_line(line, share, n, used):
    """A line with n consecutive events (field 4); `used` gets the ids of their names (field 1)."""
    fields = fields_of(line) or []
    events = [f for f in fields if f[:2] == (4, 2)]
    first = int(max(0, len(events) - n) * share)
    events = events[first : first + n]
    for _, _, event in events:
        used.update(v for f, kind, v in fields_of(event) or [] if (f, kind) == (1, 0))
    return encoded([f for f in fields if f[:2] != (4, 2)] + events)


def cut_plane(plane, share, n):
    """Its lines (field 3) cut, and the names of events (field 4, a map) that they use."""
    used: set = set()
    fields = [(f, k, cut_line(v, share, n, used) if (f, k) == (3, 2) else v) for f, k, v in fields_of(plane) or []]
    return encoded([f for f in fields if f[:2] != (4, 2) or used & {v for i, k, v in fields_of(f[2]) or [] if (i, k) == (1, 0)}])


def xplane_pieces(data, r, count):
    planes = fields_of(data)
    if not planes:
        return [data]
    cuts = [(r.random(), r.choice(EVENTS)) for _ in range(count // 4)]  # each reads the whole here
    return [encoded([(f, k, cut_plane(v, share, n) if (f, k) == (1, 2) else v) for f, k, v in planes]) for share, n in cuts]


PIECES = {"chrome": chrome_pieces, "nsys": nsys_pieces, "xplane": xplane_pieces}


def pieces_of(kind, data, r, count):
    return PIECES[kind](data, r, count) if kind in PIECES else [data]
