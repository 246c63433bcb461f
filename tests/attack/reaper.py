# SPDX-License-Identifier: Apache-2.0
"""Processes of a command under attack: waits for it with a limit, and ends what it leaves running. A test that calls adopt() becomes
the parent of every process whose own parent has ended, so that none escapes the count. Linux only."""

import ctypes
import os
import pathlib
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36


def adopt():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait(p, seconds, chunks):
    """Exit code; None: it had to be killed. The limit is `chunks` waits of `seconds`, so that a machine that is frozen for a while
    uses up only one of them."""
    for _ in range(chunks):
        try:
            return p.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
    p.kill()
    p.wait()
    return None


def end_left():
    """Command lines of the processes that a command left running. They have two seconds to end by themselves; then they are killed."""
    for _ in range(100):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return []
        time.sleep(0.02)
    left = []
    for pid in pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        left.append(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
        os.kill(int(pid), signal.SIGKILL)
        os.waitpid(int(pid), 0)
    return left
