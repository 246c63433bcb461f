# SPDX-License-Identifier: Apache-2.0
"""Tillers: each batch is asked from a server on the same machine, over a socket, which answers after 15 ms. Python tracer on.

Truth: input-bound, in ask_server; it waits for answers.
"""

import socket
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np

from perceptron import make_params, update
from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 3, 8, 64


def serve(listener):
    connection, _ = listener.accept()
    while connection.recv(1):
        time.sleep(0.015)
        connection.sendall(bytes(64 * WIDTH))


def ask_server(connection):
    connection.sendall(b"?")
    parts, size = [], 0
    while size < 64 * WIDTH:
        parts.append(connection.recv(64 * WIDTH - size))
        size += len(parts[-1])
    return np.frombuffer(b"".join(parts), np.uint8).reshape(64, WIDTH).astype(np.float32)


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    connection = socket.create_connection(listener.getsockname())
    params = make_params(WIDTH, 3)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            x = ask_server(connection)
            watch.fetched()
            params, loss = update(params, jnp.asarray(x))
            float(loss)
    watch.save("jax", "jaxlib")


if __name__ == "__main__":
    main()
