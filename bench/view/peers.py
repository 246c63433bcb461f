# SPDX-License-Identifier: Apache-2.0
"""The same trace in XProf's own viewer, for bench/view/run --xprof: how long until its first picture stands in the same
browser, and what its server holds.

XProf reads no JSON of this size: it is given what `stoker export xspace` makes of the trace, which is not counted. Its
pages ask other machines for charts; the trace viewer does without them. Its first picture is the first answer to the trace
viewer's request for events: what draws it comes on top. Perfetto's trace processor is a program that its package fetches from
the network when it is first used."""

import gzip
import http.client
import json
import pathlib
import subprocess
import time
import urllib.parse

RUN = "job"


def memory_of(pid):
    """Bytes resident and their highest, of a process and its children."""
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


def xprof(program, xspace, folder, port=8791):
    """What of it was measured, or {"trouble": why not}."""
    at = folder / "xprof/plugins/profile" / RUN
    at.mkdir(parents=True, exist_ok=True)
    place = at / "host.xplane.pb"
    if not place.exists():
        place.hardlink_to(xspace)
    for old in [f for f in at.iterdir() if f != place]:  # what it kept of an earlier time
        old.unlink()
    found = {"bytes": xspace.stat().st_size}
    log = (folder / "xprof.log").open("w")
    process = subprocess.Popen([program, "server", "--logdir", folder / "xprof", "--port", str(port)], stdout=log, stderr=log)
    try:
        until_it_answers(port, process)
        start = time.monotonic()
        status, body = ask(port, "data", run=RUN, tag="trace_viewer@", host="host", resolution=8000)
        found |= {"first": time.monotonic() - start, "status": status, "answer": len(body)}
        found["events"] = len(json.loads(body).get("traceEvents", [])) if status == 200 and body[:1] == b"{" else 0
        start = time.monotonic()
        ask(port, "data", run=RUN, tag="trace_viewer@", host="host", resolution=8000, start_time_ms=100000, end_time_ms=100437)
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
