# SPDX-License-Identifier: Apache-2.0
"""An HTTP server of objects in memory, with versions (ETag) and ranges, which can be slow and misbehave.

As a program: object_server.py PORT BYTES COUNT RATE LATENCY serves /0.bin and so on, at RATE bytes a second
in all, each answer LATENCY seconds late; it prints a line when it listens."""

import collections
import http.server
import sys
import threading
import time

PIECE = 64 * 1024


class Objects(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port=0, rate=None, latency=0.0):
        self.objects, self.versions, self.rate, self.latency = {}, collections.Counter(), rate, latency
        self.requests, self.sent = collections.Counter(), 0
        self.fault = lambda method, path, start: None  # -> "drop", "stall", "short", "whole" or a status
        self.lock, self.free = threading.Lock(), 0.0
        super().__init__(("127.0.0.1", port), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"

    def put(self, name, data):
        self.objects["/" + name] = data
        self.versions["/" + name] += 1
        return self.url + name

    def pace(self, n):
        """Waits until n more bytes may be sent."""
        if self.rate:
            with self.lock:
                self.free = max(self.free, time.monotonic() - 0.01) + n / self.rate
                wait = self.free - time.monotonic()
            if wait > 0:
                time.sleep(wait)

    def handle_error(self, request, client_address):
        """Connections that the other side ends."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = PIECE

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, has_body):
        of, path = self.server, self.path.split("?")[0]
        asked = self.headers.get("Range")
        start = int(asked.split("=")[1].split("-")[0]) if asked else 0
        with of.lock:
            of.requests[self.command] += 1
        fault = of.fault(self.command, path, start)
        time.sleep(of.latency)
        data = of.objects.get(path)
        if data is None or isinstance(fault, int):
            self.send_response(fault if data is not None else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        end = len(data)
        if asked and fault != "whole":
            last = asked.split("-")[1]
            end = min(end, int(last) + 1) if last else end
        else:
            start = 0
        body = memoryview(data)[start:end]
        self.send_response(206 if asked and fault != "whole" else 200)
        if asked and fault != "whole":
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.send_header("ETag", f'"{of.versions[path]}"')
        self.send_header("Accept-Ranges", "none" if fault == "whole" else "bytes")
        if fault == "short":  # an answer that ends with the connection, and too early
            self.send_header("Connection", "close")
            self.close_connection = True
            body = body[: len(body) // 2]
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not has_body:
            return
        if fault in ("drop", "stall"):
            self.wfile.write(body[: len(body) // 3])
            self.wfile.flush()
            if fault == "stall":
                time.sleep(3)
            self.close_connection = True
            return
        for at in range(0, len(body), PIECE):
            piece = body[at : at + PIECE]
            of.pace(len(piece))
            self.wfile.write(piece)
            with of.lock:
                of.sent += len(piece)


if __name__ == "__main__":
    port, size, count, rate, latency = sys.argv[1:]
    server = Objects(int(port), float(rate) or None, float(latency))
    for k in range(int(count)):
        server.put(f"{k}.bin", bytes([k]) * int(size))
    print(server.url, flush=True)
    sys.stdin.read()
