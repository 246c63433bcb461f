# SPDX-License-Identifier: Apache-2.0
"""Steps and waits of this process, and their record: a file of fixed-size records (job/capture/parent/step_record.h has
the layout). Records are buffered here and written together, so that writing takes at most SHARE of the time; a step of
PACE_MOST is written when it ends. If the process is killed, the records since the last write are lost, at most a tenth
of a second. The file is written by calls, not through a mapping, so a truncated file or a full disk is an error here,
not a signal in the middle of a step.

A step like the one before takes a fast path that keeps only its record. The header's counts are updated every UNCOUNTED
steps, or at the next step that differs. Readers of the file also count the records beyond the header's.

A step ends at an event: an optimizer's step or the end of a Keras batch. If there are neither, it is the next fetch of
a batch, or the next call of a jitted function. Waits are the fetches of the thread that steps; a fetch during which
launched work was still running (JAX) delayed nothing. If a step has fetches from another data set than the step before
(an evaluation in between), the time from the first of these to the next fetch from its own data set isn't part of the
step."""

import atexit
import os
import struct
import sys
import threading
import time

HEADER, RECORD = 4096, 32
KEPT = 128  # records buffered here, at most
UNCOUNTED = 64  # records that the header's counts may lag behind, at most (STK_STEPS_UNCOUNTED)
MOST = 1 << 20
PACE, PACE_MOST = 1_000_000, 100_000_000  # ns from one write to the next
SHARE = 2000  # writing may take one part in SHARE of the time
OPTIMIZER, KERAS, FETCHES, CALLS = 1, 2, 3, 4  # what ends a step
IN_WINDOW, TOLD, ASIDE = 1, 2, 4
NONE, OPEN, DONE, LEFT = 0, 1, 2, 3
NEVER = 1 << 62
WEAK_AFTER = 8  # after so many fetches without an optimizer's step, fetches end the steps

_WORDS = RECORD // 8  # of a record, in the view of the buffer
_put_counts = struct.Struct("<7Q").pack_into  # from count to kept
_NUMBERS = 128  # bytes of the header for numbers
_MARK = 0x53746B + (os.getpid() << 8)  # the place in the file
_AT_COUNTS, _AT_WINDOW, _AT_SOURCE, _AT_WAIT, _AT_AHEAD = 32, 88, 112, 120, 121
_AT_TEXTS = {
    "framework": (128, 32),
    "hooks": (160, 1024),
    "profile": (1184, 1024),
    "notes": (2208, 1824),
    "versions": (4032, 64),
}

now = time.monotonic_ns
ident = threading.get_ident


def rank_of(environ):
    """The rank from the launcher: torchrun, Open MPI, MPICH, Slurm with several tasks; else from PyTorch's process
    group."""
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        if environ.get(name, "").isdigit():
            return int(environ[name])
    if environ.get("SLURM_PROCID", "").isdigit() and environ.get("SLURM_NTASKS", "1") != "1":
        return int(environ["SLURM_PROCID"])
    return rank_of_group()


def rank_of_group():
    """If only the program itself knows the rank: mp.spawn, Lightning."""
    group = sys.modules.get("torch.distributed")
    try:
        return group.get_rank() if group is not None and group.is_available() and group.is_initialized() else -1
    except Exception:
        return -1


def versions():
    """Versions of the frameworks that the job imported: "torch 2.13.0, keras 3.12.0"."""
    found = []
    for name in ("torch", "tensorflow", "keras", "jax"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            found.append(f"{name} {version}")
    return ", ".join(found)


class Recorder:
    # Too many attributes for a key-sharing dict; slots are fastest to read and write.
    __slots__ = (
        "plan", "hooks", "notes", "framework", "jits", "user_is_profiling", "file", "identity", "head", "head_is_new",
        "kept", "view", "base", "written", "in_file", "due", "failed", "window", "gpu", "thread", "source", "own", "steps",
        "total_wait", "total_time", "with_wait", "counted", "counted_last", "at", "short_end", "first", "last", "wait",
        "key_start", "key", "lead", "keys", "keys_before", "away", "fetches", "flags", "event", "trains", "is_seen",
        "latest",
    )  # fmt: skip

    def __init__(self, plan):
        self.plan = plan
        self.hooks = []
        self.notes = []
        self.framework = ""
        self.jits = False  # a function of jax.jit was called
        self.user_is_profiling = False
        self.trains = False  # gradients were computed
        self.is_seen = False
        self.latest = None  # a reference to a result of the last call that only launched work
        self.file = -1
        self.forget()
        atexit.register(self.finish)

    def forget(self):
        """Resets to a process without steps: at the start, and in the child of a fork."""
        if self.file >= 0 and self._is_open():
            os.close(self.file)
        self.file = -1
        self.identity = None  # device and number of the file
        self.head = bytearray(HEADER)
        self.head_is_new = False
        self.kept = bytearray(RECORD * KEPT)  # the last records
        self.view = memoryview(self.kept).cast("Q")
        self.failed = False
        self.window = None
        self.gpu = None  # an open window of the capture library, which gets the fetches
        self.thread = ident()
        self.source = 0
        self.own = 0
        self.restart()

    def restart(self):
        """Steps count from here on."""
        self.steps = self.total_wait = self.total_time = self.with_wait = 0
        if self.file >= 0:  # no records beyond the header's count
            self._call(os.ftruncate, HEADER)
        self.kept[:] = bytes(len(self.kept))
        self.base = 0  # records before those in the view
        self.at = self.counted = 0  # words of the view: the next record's; where the counts above end
        self.written = 0  # up to where it was written
        self.in_file = 0  # records
        self.due = 0  # when the next write is
        self.counted_last = 0  # the value of `last` there
        self.short_end = 0  # records up to here take the fast path
        self.first = self.last = 0
        self.wait = self.key_start = 0
        self.key = self.lead = None  # data sets: of the last fetch; the one whose fetches end steps
        self.keys = self.keys_before = None  # key -> [wait, span] if a step had several
        self.away = 0  # time that is not the step's
        self.fetches = 0
        self.flags = 0
        self.event = self.plan["warmup"] if self.plan["steps"] else NEVER

    @property
    def count(self):
        """Steps until now, including those of the fast path."""
        return self.steps + (self.at - self.counted) // _WORDS

    # Waits

    def fetched(self, key, start, end):
        """A fetch in the thread that steps."""
        if ident() != self.thread:
            return
        self.fetches += 1
        if not self.last:
            self.begins(start)
        if self.latest is not None and self._is_ahead():
            start = end - 1  # it was fetched, but nothing waited for it
        if key == self.key:
            self.wait += end - start
        else:
            self._other_key(key, start, end - start)
        self.own += now() - end

    def fetch_begins(self, key):
        """A fetch begins. If fetches end steps, the one before ended one."""
        if self.source == FETCHES:
            if key == self.lead and self.last:
                self.stepped(FETCHES)
        elif self.fetches >= WEAK_AFTER and self.last:
            self.lead = key
            self.stepped(FETCHES)

    def fetch_failed(self):
        """The iterator is exhausted, or the fetch raised. If fetches end steps, none begins here."""
        if self.source == FETCHES and self.key == self.lead:
            self.breaks()

    def _is_ahead(self):
        """Whether work that was launched before isn't done yet."""
        array = self.latest()
        try:
            return array is not None and not array.is_ready()
        except RuntimeError:  # it was donated, or deleted
            return False

    def _other_key(self, key, start, wait):
        if self.key is not None:
            self._close_key(start)
        self.key, self.wait, self.key_start = key, wait, start

    def _close_key(self, end):
        self.short_end = 0
        if self.keys is None:
            self.keys = {}
        sums = self.keys.setdefault(self.key, [0, 0])
        sums[0] += self.wait
        sums[1] += end - self.key_start
        self.wait = 0

    def _sort_out(self, end):
        """The wait of a step that fetched from several data sets. The other data sets' time goes to self.away."""
        self._close_key(end)
        before = self.keys_before or ({} if self.steps else self.keys)
        own = self.lead if self.source == FETCHES else self.key
        wait = 0
        for key, (waited, span) in self.keys.items():
            if key == own or (key in before and len(before) > 1):
                wait += waited
            else:
                self.away += span
                self.flags |= ASIDE
        self.keys_before, self.keys = self.keys, None
        return wait

    def left_aside(self, start, end):
        """Time within a step that doesn't count as the step's: an evaluation."""
        self.short_end = 0
        self.away += end - start
        self.flags |= ASIDE

    # Steps

    def stepped(self, source, steps=1):
        """One step, or several that the framework makes in one call, ended."""
        end = now()
        at = self.at
        if at >= self.short_end or source != self.source or steps != 1:
            self._stepped(end, source, steps)
            return
        view, last = self.view, self.last
        view[at + 1] = end - last if end > last else 0  # another thread's step may have ended in the meantime
        if self.wait:
            view[at + 2] = self.wait
            self.total_wait += self.wait
            self.with_wait += 1
            self.wait = 0
        view[at] = self.last = self.key_start = end
        self.at = at + _WORDS
        if end >= self.due:
            self._write(end)
        self.own += now() - end

    def _stepped(self, end, source, steps):
        """The same for a step of any kind."""
        if source != self.source and not self._takes(source):
            return
        self._settle()
        if self.keys is not None:
            wait = self._sort_out(end)
        else:
            wait, self.keys_before = self.wait, None
        self.wait, self.key_start = 0, end
        if self.last:
            dur = max(end - self.last - self.away, 0)
        else:
            dur = 0
            self.begins(end)
            self.flags |= TOLD
        self.last, self.away = end, 0
        self.with_wait += steps if wait else 0
        self.total_wait += wait
        self.total_time += dur
        if steps == 1:
            self._put(end, dur, wait)
        else:
            for i in range(steps):
                self._put(end - dur * (steps - 1 - i) // steps, dur // steps, wait // steps)
        self.flags &= IN_WINDOW
        self._counts()
        if end >= self.due:
            self._write(end)
        if not self.is_seen:
            self._see()
        done = now()
        self.own += done - end
        if self.steps >= self.event:
            self._tell(done)
        self._shorten()

    def _see(self):
        """From the first step on, the job's lines are sampled for their time."""
        import _stoker_core

        self.is_seen = True
        places = _stoker_core.load("_stoker_places").places
        places.step_ends()
        places.begin()

    def _settle(self):
        """Counts what the fast path left uncounted."""
        if self.at > self.counted:
            self.steps += (self.at - self.counted) // _WORDS
            self.total_time += max(self.last - self.counted_last, 0)
            self.counted, self.counted_last = self.at, self.last

    def _shorten(self):
        """How far the next steps may take the fast path: as long as there is nothing to report but their end."""
        self.counted_last = self.last
        kept = self.at // _WORDS
        left = min(UNCOUNTED, KEPT - kept, MOST - self.base - kept, self.event - self.steps - 1)
        is_plain = self.last and not self.flags and self.keys_before is None and not self.failed
        self.short_end = self.at + _WORDS * left if is_plain and left > 0 else 0

    def begins(self, start):
        """A step begins without a previous one that ended."""
        self.last = start
        if not self.first:
            self.first = start

    def breaks(self):
        """An epoch ended: nothing is a step until the next fetch or event."""
        if self.at > self.counted:
            self._settle()
            self._counts()
        self.flush()
        self.last = self.short_end = 0

    def _takes(self, source):
        """Whether this event ends steps: the strongest kind seen so far does; of two strong ones, the first."""
        if self.source in (OPTIMIZER, KERAS):
            return False
        if source in (OPTIMIZER, KERAS) or not self.source or (source == FETCHES and self.source == CALLS):
            return self._becomes(source)
        return False

    def _becomes(self, source):
        if self.window is not None and self.window.is_open:
            return False
        if self.source:
            last, first, key, wait, lead = self.last, self.first, self.key, self.wait, self.lead
            self.restart()
            self.last, self.first, self.key, self.wait, self.lead = last, first, key, wait, lead
        self.source, self.thread = source, ident()
        struct.pack_into("<Q", self.head, _AT_SOURCE, source)
        self.head_is_new = True
        return True

    def _tell(self, start):
        """Calls the window. The time it takes isn't part of a step."""
        try:
            if self.window is None:
                import _stoker_core

                self.window = _stoker_core.load(_stoker_core.turner).Window(self)
            self.window.turn()
        except Exception as e:
            self.event = NEVER
            self.flags = 0
            self.note(f"no window: {type(e).__name__}: {e}")
            self.put_window(LEFT)
        if self.last:
            self.last += now() - start

    def user_profiles(self, begins):
        """The program's own profiler starts or stops."""
        self.user_is_profiling = begins
        if begins and self.window is not None:
            self.window.give_way()

    def trained(self):
        """Gradients are computed: from here on this is training, and the warm-up begins."""
        self.trains = True
        if self.source == FETCHES and not self.last:  # earlier loops over data weren't part of it
            self.restart()
            self.source = 0
        elif self.window is not None and self.window.waits:
            self.event = self.count + self.plan["warmup"]
            self.short_end = 0

    def window_framework(self):
        """The framework whose profiler records the window."""
        return "jax" if self.jits and self.source in (FETCHES, CALLS) else self.framework

    def drained(self, took):
        """All launched work is done, after `took` ns in which the loop was blocked. They belong to the steps since the
        last such wait, and are stored with the step that just ended."""
        self.head[_AT_AHEAD] = 1
        self._settle()
        at = self.at - _WORDS
        if at >= 0 and not self.failed and self.view[at + 1]:
            self.view[at] += took
            self.view[at + 1] += took
            self.total_time += took
            self.written = min(self.written, at)
        self._counts()

    # The record

    def _put(self, end, dur, wait):
        self.steps += 1
        if self.failed or self.base + self.at // _WORDS >= MOST:
            return
        if self.file < 0 and not self._begin():
            return
        if self.at == KEPT * _WORDS:
            self._make_room()
        view, at = self.view, self.at
        view[at + 1], view[at + 2], view[at + 3] = dur, wait, self.flags
        view[at] = end
        self.at = self.counted = at + _WORDS

    def _make_room(self):
        """Drops the first half of the buffer, which is written."""
        self.flush()
        half = KEPT // 2 * _WORDS
        self.kept[:] = self.kept[8 * half :] + bytes(8 * half)
        self.base += KEPT // 2
        self.at -= half
        self.counted -= half
        self.written = max(self.written - half, 0)

    def waits_of(self, steps):
        """Wait and time of the last steps, without the first of the run, in which the input starts."""
        waits = span = 0
        first = 0 if self.base else _WORDS
        for at in range(max(self.at - steps * _WORDS, first), self.at, _WORDS):
            span += self.view[at + 1]
            waits += self.view[at + 2]
        return waits, span

    def usual_step(self):
        """The median of the last steps, in ns; 0 if only the first of the run has ended."""
        first = 0 if self.base else _WORDS
        lengths = sorted(self.view[at + 1] for at in range(first, self.at, _WORDS))
        return lengths[(len(lengths) - 1) // 2] if lengths else 0

    def _counts(self):
        _put_counts(
            self.head,
            _AT_COUNTS,
            self.steps,
            self.own,
            self.total_wait,
            self.total_time,
            self.first,
            self.last,
            self.base + self.at // _WORDS,
        )
        self.head[_AT_WAIT] = self.with_wait * 2 >= self.steps
        self.head_is_new = True

    def _begin(self):
        """Opens the file, at the first step. False: it can't."""
        self._open(os.O_CREAT)
        if self.file < 0:
            return False
        struct.pack_into("<8s2IQq", self.head, 0, b"stkhook1", 1, HEADER, os.getpid(), rank_of(os.environ))
        struct.pack_into("<Q", self.head, _AT_SOURCE, self.source)
        texts = {"hooks": " ".join(self.hooks), "framework": self.framework, "notes": "\n".join(self.notes)}
        for name, text in {**texts, "versions": versions()}.items():
            self._put_text(name, text)
        self._call(os.ftruncate, 0)  # a program that replaced itself (exec) under the same process id
        self._call(os.pwrite, self.head, 0)
        processes = sys.modules.get("multiprocessing.util")
        if processes is not None:  # its processes end without running atexit
            processes.Finalize(None, self.finish, exitpriority=0)
        return not self.failed

    def _open(self, flags=0):
        """Opens the file by its name. Its position, which no call here moves, later shows that the number is still the
        file's."""
        path = f"{self.plan['dir']}/steps-{os.getpid()}.rec"
        try:
            self.file = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | flags, 0o666)
            os.lseek(self.file, _MARK, os.SEEK_SET)  # a pipe has no position
            found = os.fstat(self.file)
        except OSError as e:
            self.file = -1
            self._fails(e)
            return
        if self.identity not in (None, (found.st_dev, found.st_ino)):
            os.close(self.file)
            self.file = -1
            self._fails("another file has its name")
        else:
            self.identity = (found.st_dev, found.st_ino)

    def _is_open(self):
        """Whether the file descriptor is still the file's: the program may have closed all of them."""
        try:
            return os.lseek(self.file, 0, os.SEEK_CUR) == _MARK
        except OSError:
            return False

    def _call(self, call, *args):
        """A call on the file; returns whether it succeeded. A failure ends the recording of times, never the job."""
        if self.file >= 0 and not self._is_open():
            self._open()
        if self.file < 0:
            return False
        try:
            call(self.file, *args)
            return True
        except OSError as e:
            if e.errno is None:  # raised by the program's signal handler
                raise
            self._fails(e)
            return False

    def _fails(self, why):
        self.failed, self.short_end = True, 0
        self.note(f"steps after the first {self.in_file} are counted, but their times are not kept: {why}")

    def _write(self, end):
        self.flush()
        done = now()
        self.due = done + min(max(SHARE * (done - end), PACE), PACE_MOST)

    def flush(self):
        """Writes what the file lacks: records first, then the header's numbers, so that these never count a missing
        record."""
        if self.file < 0:
            return
        first, self.written = self.written, self.at
        if self.at > first:
            records = bytes(self.kept[8 * first : 8 * self.at])  # another thread may step in the meantime
            at = self.base + first // _WORDS
            if not self.failed and self._call(os.pwrite, records, HEADER + RECORD * at):
                self.in_file = at + len(records) // RECORD
        if self.head_is_new:
            self.head_is_new = False
            self._call(os.pwrite, self.head[:_NUMBERS], 0)

    def finish(self):
        """The process ends: the header counts all steps, and its texts are written again."""
        if self.notes and not self.steps:
            self._begin()
        if self.file >= 0:
            self._settle()
            self._counts()
            self.flush()
            self._call(os.pwrite, self.head, 0)

    def _put_text(self, name, text):
        at, size = _AT_TEXTS[name]
        data = text.encode("utf-8", "replace")[: size - 1]
        self.head[at : at + size] = data + bytes(size - len(data))

    def _text(self, name, text):
        self._put_text(name, text)
        if self.file >= 0:
            self._call(os.pwrite, self.head, 0)

    def put_window(self, state, first=0, steps=0, profile=""):
        struct.pack_into("<3Q", self.head, _AT_WINDOW, first, steps, state)
        self.flush()
        self._text("profile", profile)

    def note(self, text):
        """A sentence for the run's report."""
        line = " ".join(str(text).split())[:380]
        if line not in self.notes:
            self.notes.append(line)
            self._text("notes", "\n".join(self.notes))

    def lives(self, hook, framework=""):
        """A hook is installed."""
        if hook not in self.hooks:
            self.hooks = sorted([*self.hooks, hook])
            self._text("hooks", " ".join(self.hooks))
        if framework:
            self.set_framework(framework)

    def set_framework(self, framework):
        if not self.framework:
            self.framework = framework
            self._text("framework", framework)
