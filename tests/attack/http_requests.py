#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Invalid, partial and hostile requests to stoker view, a thousand at once, slow and half-open clients: it answers
every valid request, ends well, and keeps no more files, threads or memory afterwards than before.

Usage: tests/attack/http_requests.py STOKER [--long] [--count N] [--seed S]
  --long: 100 000 requests instead of 1500
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "cli")]
import view_server  # noqa: E402
from harness import ROOT, check, done, skip  # noqa: E402

PROFILE = ROOT / "examples/profiles/sim_gpu_torch_input.pt.trace.json.gz"
SHORT, LONG, SANITIZED = 1500, 100_000, 300
# A sanitizer's own memory tells nothing, and it takes its time: that nothing is wrong is its exit status.
IS_SANITIZED = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ
RSS_MORE_KB = 48 << 10  # of answers that were made: documents are kept
WORDS = [b"GET", b"POST", b"HEAD", b"PUT", b"OPTIONS", b"\0", b"G" * 5000, b"/", b"/api/tile", b"/api/event", b"/api/area", b"/api/names", b"/api/query",
         b"/api/search", b"/api/runs", b"/api/table/kernels", b"/api/table/" + b"%00" * 20, b"/api/whatif?fix=", b"/api/extra?n=", b"/..%2f..%2f", b"?track=", b"&level=",
         b"&index=", b"?id=", b"?ids=", b"?t0=", b"&t1=", b"&tracks=", b"?q=", b"&limit=", b"-1", b"0", b"1", b"99999999999999999999", b"9223372036854775807",
         b"-9223372036854775808", b"1e9", b"%zz", b"%", b"/(a+)+$/", b"[", b",,,,", b"1," * 3000, b" HTTP/1.1", b" HTTP/1.0", b" HTTP/9", b"\r\n", b"\n", b"\r\n\r\n",
         b"Host: 127.0.0.1", b"Host: evil.example", b"Origin: null", b"Content-Length: 5", b"Content-Length: -1", b"Content-Length: 99999999999", b"Transfer-Encoding: chunked",
         b"5\r\nabcde\r\n0\r\n\r\n", b"ffffffffffffffff\r\n", b"Expect: 100-continue", b"Connection: close", b"X: " + b"y" * 70000, b"select 1", b"select * from events",
         b"with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r limit 1", b"\xff\xfe\x00"]  # fmt: skip


def rightly(s):
    """A request that must be answered after any others."""
    status, _, body = s.ask("/api/names?ids=1,2")
    return status == 200 and "names" in json.loads(body)


def request(r, s):
    """Some bytes that look like a request in part, most of them with the right token."""
    token = f"X-Stoker-Token: {s.token}\r\n".encode() if r.random() < 0.8 else b""
    host = f"Host: 127.0.0.1:{s.port}\r\n".encode() if r.random() < 0.9 else b""
    line = b"".join(r.choice(WORDS) for _ in range(r.randint(1, 6)))
    if r.random() < 0.6:
        path = r.choice([w for w in WORDS if w.startswith(b"/api/")])
        query = b"".join(r.choice(WORDS[20:45]) for _ in range(r.randint(0, 8)))
        line = r.choice([b"GET ", b"GET ", b"POST "]) + path + query.replace(b" ", b"+") + b" HTTP/1.1\r\n"
    body = b"".join(r.choice(WORDS) for _ in range(r.randint(0, 4))) if r.random() < 0.4 else b""
    length = f"Content-Length: {len(body)}\r\n".encode() if body and r.random() < 0.8 else b""
    whole = bytearray(line + host + token + length + b"\r\n" + body)
    for _ in range(r.choice([0, 0, 0, 1, 5])):
        if whole:
            whole[r.randrange(len(whole))] = r.randrange(256)
    return bytes(whole[: r.randrange(len(whole) + 1)] if r.random() < 0.15 else whole)


def throw(s, data, wait):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", s.port), timeout=5) as c:
        c.sendall(data)
        c.settimeout(wait)
        c.recv(200)


def garbage(s, count, seed):
    r = random.Random(seed)
    for i in range(count):
        throw(s, request(r, s), 0.003)
        if i % 250 == 249:
            check(s.process.poll() is None and rightly(s), f"it answers after request {i} of --seed {seed}")


def thousand_at_once(s):
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        ids = [str(track["id"]) for track in s.json("/api/info")["tracks"]]
        many = ",".join((ids * 64)[:64])  # enough for several threads
        paths = ["/api/report", "/api/tile?track=1&level=20&index=0", f"/api/tiles?tracks={many}&level=14&index=1", "/api/search?q=a&limit=5",
                 "/api/table/kernels", "/main.js"]  # fmt: skip
        found = list(pool.map(lambda i: s.ask(paths[i % len(paths)])[0], range(1000)))
    check(found == [200] * 1000, f"{sum(f != 200 for f in found)} of 1000 at once were not answered")


def slow_and_half_open(s):
    """As many as may be, each with a part of a request; others are answered meanwhile, and fast."""
    held = []
    for i in range(600):
        c = socket.create_connection(("127.0.0.1", s.port), timeout=5)
        c.sendall(b"GET /api/report HTTP/1.1\r\nHost: 127.0.0.1"[: i % 40])
        held.append(c)
    start = time.monotonic()
    good = sum(rightly(s) for _ in range(50))
    check(good == 50, f"{good} of 50 are answered beside 600 slow ones")
    check(time.monotonic() - start < 20, "and none waits for them")
    takers = []
    for _ in range(50):  # who asks for much and takes nothing
        c = socket.create_connection(("127.0.0.1", s.port), timeout=5)
        c.sendall(f"GET /api/report?token={s.token} HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\n\r\n".encode())
        takers.append(c)
    check(all(rightly(s) for _ in range(20)), "nor for those who take nothing")
    for c in held + takers:
        c.close()


def holdings(s):
    status = pathlib.Path(f"/proc/{s.process.pid}/status").read_text()
    rss = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
    return len(os.listdir(f"/proc/{s.process.pid}/fd")), int(re.search(r"Threads:\s+(\d+)", status)[1]), rss


def settled(s, before):
    """What it holds once the connections are gone."""
    end = time.monotonic() + 40
    while True:
        now = holdings(s)
        if (now[0] <= before[0] and now[1] <= before[1]) or time.monotonic() > end:
            return now
        time.sleep(0.1)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("stoker")
    words.add_argument("--long", action="store_true")
    words.add_argument("--count", type=int)
    words.add_argument("--seed", type=int, default=1)
    asked = words.parse_args()
    stoker = pathlib.Path(asked.stoker).resolve()
    if subprocess.run([stoker, "view", "--no-open", "nothing"], capture_output=True).returncode == 5:
        skip("this stoker was built without libmicrohttpd")
        return done("attack.http_requests")
    with view_server.server(stoker, PROFILE) as s:
        event = s.json("/api/search?q=a&limit=1")["hits"][0]["id"]
        for path in ("/api/table/kernels", "/api/whatif", "/api/phases", f"/api/event?id={event}"):  # the profile's file stays open
            check(s.ask(path)[0] == 200, path)
        thousand_at_once(s)
        time.sleep(1)  # connections end
        before = holdings(s)
        thousand_at_once(s)
        slow_and_half_open(s)
        garbage(s, asked.count or (LONG if asked.long else SANITIZED if IS_SANITIZED else SHORT), asked.seed)
        check(rightly(s), "it goes on")
        after = settled(s, before)
        check(after[0] <= before[0], f"files held: {before[0]} before, {after[0]} after")
        check(after[1] <= before[1], f"threads: {before[1]} before, {after[1]} after")
        check(IS_SANITIZED or after[2] <= before[2] + RSS_MORE_KB, f"memory: {before[2]} kB before, {after[2]} kB after")
    return done("attack.http_requests")


if __name__ == "__main__":
    sys.exit(main())
