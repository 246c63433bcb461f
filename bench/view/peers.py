# SPDX-License-Identifier: Apache-2.0
"""The same trace in XProf's own viewer, for bench/view/run --xprof: how long until its first picture appears in the same
browser, and how much memory its server uses.

XProf can't read JSON of this size: it gets the output of `stoker export xspace`, whose time isn't counted. Its pages
load charts from other machines; the trace viewer works without them. Its first picture is the first answer to the trace
viewer's request for events: drawing comes on top. Each of SETTINGS is tried from scratch, and the fastest counts; it is
then opened again with its caches. Perfetto's trace processor is a program that its package downloads on first use."""

import gzip
import http.client
import json
import pathlib
import subprocess
import time
import urllib.parse

RUN = "job"
# XProf settings that could make its first picture faster: for the server, the viewer it serves, and the requested
# resolution. (a name, flags of the server, words of the request)
SETTINGS = [
    ("the default", [], {"tag": "trace_viewer@", "resolution": 8000}),
    (
        "two worker requests at once, an eighth of the resolution",
        ["--max_concurrent_worker_requests", "2"],
        {"tag": "trace_viewer@", "resolution": 1000},
    ),
    ("the viewer that loads all at once", [], {"tag": "trace_viewer"}),
]


def memory_of(pid):
    """Current and peak resident bytes of a process and its children."""
    resident = highest = 0
    processes = [pid]
    while processes:
        at = pathlib.Path(f"/proc/{processes.pop()}")
        try:
            fields = dict(line.split(":", 1) for line in (at / "status").read_text().splitlines())
            resident += int(fields["VmRSS"].split()[0]) * 1024
            highest += int(fields["VmHWM"].split()[0]) * 1024
            processes += [int(child) for child in (at / f"task/{at.name}/children").read_text().split()]
        except (OSError, KeyError):
            pass
    return resident, highest


def ask(port, path, **words):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=900)
    connection.request("GET", f"/data/plugin/profile/{path}?{urllib.parse.urlencode(words)}")
    answer = connection.getresponse()
    body = answer.read()
    return answer.status, gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


def until_it_answers(port, process):
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        try:
            return ask(port, "runs")
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("xprof does not answer")


def one(program, folder, at, place, setting, port, first_only=False):
    """One start of the server, and its first answer: measurements, or {"trouble": why not}."""
    name, flags, words = setting
    found = {"setting": name}
    log = (folder / "xprof.log").open("w")
    process = subprocess.Popen(
        [program, "server", "--logdir", folder / "xprof", "--port", str(port), *flags], stdout=log, stderr=log
    )
    try:
        until_it_answers(port, process)
        start = time.monotonic()
        status, body = ask(port, "data", run=RUN, host="host", **words)
        found |= {"first": time.monotonic() - start, "status": status, "answer": len(body)}
        if first_only:
            return found
        found["events"] = len(json.loads(body).get("traceEvents", [])) if status == 200 and body[:1] == b"{" else 0
        start = time.monotonic()
        ask(port, "data", run=RUN, host="host", **words, start_time_ms=100000, end_time_ms=100437)
        found["zoom"] = time.monotonic() - start
        found["rss"], found["highest"] = memory_of(process.pid)
        found["kept"] = sum(f.stat().st_size for f in at.iterdir() if f != place)
    except (RuntimeError, OSError, ValueError) as error:
        found["trouble"] = str(error)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
    return found


def has_picture(found):
    return found.get("status") == 200 and found.get("events", 0) > 0


def xprof(program, xspace, folder, port=8791):
    """Results of the fastest setting, and under "tried" of each; "again": seconds with its caches."""
    at = folder / "xprof/plugins/profile" / RUN
    at.mkdir(parents=True, exist_ok=True)
    place = at / "host.xplane.pb"
    if not place.exists():
        place.hardlink_to(xspace)
    tried = []
    for i, setting in enumerate(SETTINGS):
        for old in [f for f in at.iterdir() if f != place]:  # its caches from earlier
            old.unlink()
        found = one(program, folder, at, place, setting, port + 2 * i)
        if has_picture(found):
            again = one(program, folder, at, place, setting, port + 2 * i + 1, first_only=True)
            found["again"] = again.get("first")
        tried.append(found)
    pictures = [found for found in tried if has_picture(found)]
    best = min(pictures, key=lambda found: found["first"]) if pictures else tried[0]
    return {**best, "tried": tried}
