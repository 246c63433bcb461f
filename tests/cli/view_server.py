# SPDX-License-Identifier: Apache-2.0
"""stoker view as a process of a test: start, request, stop. Its cache is a separate folder."""
import contextlib
import http.client
import json
import os
import re
import signal
import struct
import subprocess
import tempfile

from harness import check

# Not the user's; what a test leaves there goes with it.
CACHE = tempfile.TemporaryDirectory(prefix="stoker-view-cache-")
os.environ["XDG_CACHE_HOME"] = CACHE.name

# What may be shown besides profiles.
PROOF = {"schema": "stoker.proof/1", "verdict": "faster", "pairs": 6, "noise_share": 0.03,
         "a": {"label": "<b>a</b>", "median_step_ns": 2, "runs": 6}, "b": {"label": "b", "median_step_ns": 1, "runs": 6},
         "ratio": {"estimate": 0.6, "low": 0.5, "high": 0.7}, "predicted": {"low": 0.5, "expected": 0.6, "high": 0.7}}  # fmt: skip
LEDGER = (
    "time\tprofile\tfix\tpredicted_low\tpredicted\tpredicted_high\tmeasured_low\tmeasured\tmeasured_high\tpairs\tframework\tdevice\tstoker\n"
    "2026-01-01T00:00:00Z\t0123\tinput-overlap\t0.5\t0.6\t0.7\t0.58\t0.6\t0.62\t6\ttorch\t<b>cpu</b>\t0.1.0\n"
    "2026-01-02T00:00:00Z\t\tworkers=4\t\t\t\t0.9\t0.95\t1\t6\ttorch\tcpu\t0.1.0\n"
)



class Server:
    def __init__(self, stoker, *words, env=None):
        self.process = subprocess.Popen([stoker, "view", "--no-open", *words], stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        self.line = self.process.stdout.readline()
        found = re.fullmatch(r"stoker view: http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})\n", self.line)
        self.port, self.token = (int(found[1]), found[2]) if found else (0, "")

    def ask(self, path, method="GET", body=None, token=True, **headers):
        """(status, headers, body)"""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            headers["X-Stoker-Token"] = self.token
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        c.request(method, path, body=body, headers=headers)
        answer = c.getresponse()
        found = answer.status, answer.headers, answer.read()
        c.close()
        return found

    def json(self, path, **more):
        status, _, body = self.ask(path, **more)
        check(status == 200, f"{path}: {status} {body[:200]}")
        return json.loads(body)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(30)
        self.process.stdout.close()
        return code


@contextlib.contextmanager
def server(stoker, *words, env=None):
    s = Server(stoker, *words, env=env)
    try:
        yield s
    finally:
        check(s.end() == 0, "it ends well on Ctrl-C")


def steps_record(folder, count):
    """What the hooks write: a header and a row a step."""
    head = struct.pack("<8sIIQqQQQQQQQQQQQQ", b"stkhook1", 1, 4096, 77, 0, count, 5, 30 * count, 100 * count, 1000, 1000 + 100 * count,
                       count, 2, 3, 2, 1, 1)  # fmt: skip
    head += b"pytorch".ljust(32, b"\0") + b"torch.dataloader".ljust(1024, b"\0") + bytes(1024) + b"a <i>note</i>".ljust(1824, b"\0")
    rows = b"".join(struct.pack("<4Q", 1000 + 100 * (i + 1), 100 + i % 7, 30, 0) for i in range(count))
    (folder / "steps-77.rec").write_bytes(head.ljust(4096, b"\0") + rows)
