# SPDX-License-Identifier: Apache-2.0
"""A server for tests of the pages: web/ from disk, and the interface of the viewer (docs/view.md) answered from
`stoker why`, `stats`, `whatif` and `query`. It keeps all events in memory and is for small profiles. `fail` makes it
answer with an error, so that pages can be tested on a server in trouble."""

import array
import http.server
import json
import pathlib
import struct
import subprocess
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WEB = ROOT / "web"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
KINDS = "other host_op runtime kernel memcpy memset sync annotation python collective input memory".split()
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TABLES = "overview kernels ops input gaps launches transfers comm memory startup".split()


class Refused(Exception):
    pass


class Profile:
    """What the command says of a profile, and its events."""

    def __init__(self, stoker, paths, other=None):
        self.other = other and Profile(stoker, other)  # to compare with
        self.stoker, self.paths, self.fail, self.known = str(stoker), [str(p) for p in paths], False, {}
        self.report = self.ask("why", "--json", *self.paths)
        columns = "id, track, kind, name, start_ns, dur_ns, depth, step, launch"
        self.events = [dict(zip(columns.split(", "), row)) for row in self.rows(f"select {columns} from events")]
        self.by_id = {e["id"]: e for e in self.events}
        self.by_track = {}
        for e in sorted(self.events, key=lambda e: e["start_ns"]):
            self.by_track.setdefault(e["track"], []).append(e)
        self.names = sorted({e["name"] or "" for e in self.events})
        self.name_ids = {name: i for i, name in enumerate(self.names)}
        self.tracks = self.rows("select id, rank, name, device, events from tracks")

    def ask(self, *words):
        key = words
        if key not in self.known:
            run = subprocess.run([self.stoker, *words], capture_output=True, text=True)
            if not run.stdout:
                raise Refused(run.stderr.strip())
            self.known[key] = json.loads(run.stdout)
        return self.known[key]

    def rows(self, sql):
        return self.ask("query", "--json", "-n", "0", *self.paths, sql)["tables"][0]["rows"]

    def info(self):
        tracks = [
            {
                "id": track,
                "label": name or f"track {track}",
                "group": "device" if device else "host",
                "rank": rank,
                "device": device,
                "rows": max((e["depth"] or 0) for e in self.by_track[track]) + 1,
                "events": events,
            }
            for track, rank, name, device, events in self.tracks
            if track in self.by_track
        ]
        last = max([e["start_ns"] + e["dur_ns"] for e in self.events] + [1])
        return {
            "schema": "stoker.view/1",
            "first_ns": 0,
            "last_ns": last,
            "events": len(self.events),
            "tables": TABLES,
            "can": ["report", "query", "tiles"] + (["diff"] if self.other else []),
            "tracks": tracks,
        }

    def tile(self, track, level, index):
        bucket = 2**level
        t0, t1 = index * 1024 * bucket, (index + 1) * 1024 * bucket
        found, merged, seen = {}, 0, 0
        for e in self.by_track.get(track, []):
            if e["start_ns"] >= t1 or e["start_ns"] + e["dur_ns"] < t0:
                continue
            seen += 1
            key = ("one", e["id"]) if e["dur_ns"] >= bucket else (e["depth"], e["start_ns"] // bucket)
            if key not in found:
                found[key] = [e, 1]
                continue
            merged += 1
            found[key][1] += 1
            if e["dur_ns"] > found[key][0]["dur_ns"]:
                found[key][0] = e
        items = list(found.values())

        def column(code, values):
            return array.array(code, values).tobytes()

        n = len(items)
        trace = items[0][0]["id"] >> 32 if items else 0
        return b"".join(  # all of them far, which is rightly read, too
            [
                struct.pack("<4I2d2I", 0x32544B53, n, merged, seen, t0, 1, trace, n),
                column("I", range(n)),
                column("I", range(n)),
                column("I", [e["id"] & 0xFFFFFFFF for e, _ in items]),
                column("I", [self.name_ids[e["name"] or ""] for e, _ in items]),
                column("I", [count for _, count in items]),
                column("H", [e["depth"] or 0 for e, _ in items]),
                column("B", [KINDS.index(e["kind"]) if e["kind"] in KINDS else 0 for e, _ in items]),
                bytes([8]) * n,
                column("d", [time for e, _ in items for time in (e["start_ns"], e["dur_ns"])]),
            ]
        )

    def place(self, e, **more):
        return {key: e[key] for key in ("id", "name", "track", "start_ns", "dur_ns")} | {"row": e["depth"] or 0} | more

    def event(self, number):
        e = self.by_id[number]
        links = [self.place(self.by_id[e["launch"]], dir="from")] if e["launch"] in self.by_id else []
        links += [self.place(other, dir="to") for other in self.events if other["launch"] == number]
        row = [other for other in self.by_track[e["track"]] if other["depth"] == e["depth"]]
        at = row.index(e)
        return self.place(
            e,
            kind=e["kind"],
            step=e["step"],
            links=links[:50],
            args=self.rows(f"select key, value from args where event = {number}"),
            prev=self.place(row[at - 1]) if at else None,
            next=self.place(row[at + 1]) if at + 1 < len(row) else None,
        )

    def runs(self, number, bins=24):
        same = sorted((e for e in self.events if e["name"] == self.by_id[number]["name"]), key=lambda e: e["dur_ns"])
        low, high = same[0]["dur_ns"], same[-1]["dur_ns"]
        width = max(1, (high - low) / bins)
        list_of = [
            {"from_ns": low + width * i, "to_ns": low + width * (i + 1), "count": 0, "longest": None} for i in range(bins)
        ]
        for e in same:
            place = list_of[min(bins - 1, int((e["dur_ns"] - low) / width))]
            place["count"] += 1
            place["longest"] = self.place(e)
        median = same[(len(same) - 1) // 2]["dur_ns"]
        p95 = same[int((len(same) - 1) * 0.95)]["dur_ns"]
        return {
            "count": len(same),
            "min_ns": low,
            "max_ns": high,
            "median_ns": median,
            "p95_ns": p95,
            "total_ns": sum(e["dur_ns"] for e in same),
            "bins": list_of,
        }

    def area(self, t0, t1, tracks):
        sums = {}
        for e in self.events:
            if e["track"] in tracks and e["start_ns"] < t1 and e["start_ns"] + e["dur_ns"] > t0:
                sums.setdefault((e["name"], e["kind"]), []).append(e["dur_ns"])
        columns = [("name", "text"), ("kind", "text"), ("count", "count"), ("total_ns", "ns"), ("max_ns", "ns")]
        return {
            "schema": "stoker.table/1",
            "tables": [
                {
                    "id": "area",
                    "title": "Events by name",
                    "columns": [{"id": i, "type": t} for i, t in columns],
                    "rows": [[name, kind, len(d), sum(d), max(d)] for (name, kind), d in sums.items()],
                }
            ],
        }

    def search(self, words, limit):
        found = [e for e in self.events if words.lower() in (e["name"] or "").lower()]
        found.sort(key=lambda e: e["start_ns"])
        return {"count": len(found), "hits": [self.place(e) for e in found[:limit]]}

    @staticmethod
    def no_ribbon():
        raise Refused("no time is explained here")

    def tiles_of(self, word):
        return [self.tile(int(track), int(word["level"]), int(word["index"])) for track in word["tracks"].split(",")]

    @staticmethod
    def packed(tile):
        """A tile after its length."""
        return struct.pack("<Q", len(tile)) + tile

    def answer(self, what, word):
        """The answer to api/`what`; `word` is the address's parameters."""
        if word.get("side") == "b":
            return self.other.answer(what, {k: v for k, v in word.items() if k != "side"})
        if what == "diff":
            return self.ask("diff", "--json", *self.paths, "--", *self.other.paths)
        if what.startswith("table/"):
            return self.ask("stats", what[6:], "--json", *self.paths)
        if what == "whatif":
            return self.ask("whatif", "--json", *self.paths, *(["--fix", word["fix"]] if "fix" in word else []))
        if what == "names":
            return {"names": {i: self.names[int(i)] for i in word["ids"].split(",")}}
        if what == "area":
            return self.area(int(word["t0"]), int(word["t1"]), {int(t) for t in word["tracks"].split(",")})
        answers = {
            "info": self.info,
            "report": lambda: self.report,
            "phases": lambda: {"phases": [], "left_out": 0},
            "ribbon": self.no_ribbon,
            "tile": lambda: self.tile(int(word["track"]), int(word["level"]), int(word["index"])),
            "tiles": lambda: b"".join(map(self.packed, self.tiles_of(word))),
            "event": lambda: self.event(int(word["id"])),
            "runs": lambda: self.runs(int(word["id"])),
            "search": lambda: self.search(word["q"], int(word["limit"])),
        }
        return answers[what]()


def serve(profile):
    """Serves on a free port of this machine; returns the address and the server, to shut down."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def reply(self, body, kind="application/json", status=200):
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in (
                ("Content-Type", kind),
                ("Content-Length", len(body)),
                ("Content-Security-Policy", POLICY),
            ):
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(body)

        def handle_api(self, what, make):
            try:
                if profile.fail:
                    raise Refused("a failure that a test asked for")
                self.reply(make())
            except (Refused, KeyError, ValueError) as error:
                self.reply({"error": str(error)}, status=400)

        def do_GET(self):
            address = urllib.parse.urlparse(self.path)
            word = {key: values[0] for key, values in urllib.parse.parse_qs(address.query).items()}
            path = address.path.strip("/")
            if path.startswith("api/"):
                self.handle_api(path[4:], lambda: profile.answer(path[4:], word))
                return
            file = WEB / (path or "index.html")
            if file.parent != WEB or file.suffix not in TYPES or not file.exists():
                self.reply(b"", "text/plain", 404)
            else:
                self.reply(file.read_bytes(), TYPES[file.suffix] + "; charset=utf-8")

        def do_POST(self):
            sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.handle_api("query", lambda: profile.ask("query", "--json", *profile.paths, sql))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/", server
