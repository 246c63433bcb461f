# SPDX-License-Identifier: Apache-2.0
"""Times scripts of tests/peers/scripts and guides/: this file is both stoker.data's side and TensorFlow's.

A script runs with its sources repeated, so that its pipelines are long enough to time, and every dataset that it
iterates over (outside functions) is kept; the loop itself gets only a few elements. It runs twice: as written, and with
parallel maps, interleaves and a prefetch at the end, as TensorFlow's performance guide recommends. The runner requests
passes over one pipeline.

Limits: a pipeline after cache() is timed with what the script's own loop cached; loops that only use `reduce` aren't
timed.
"""

import contextlib
import functools
import importlib.machinery
import importlib.util
import inspect
import itertools
import os
import pathlib
import sys
import tempfile

import side

HERE = pathlib.Path(__file__).resolve().parent
PEER = HERE.parent.parent / "tests/peers/tf_scripts"
OWN = importlib.util.find_spec("stoker") is not None
MODULE = "stoker.data" if OWN else "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as in side_tf.py
tf = importlib.import_module(MODULE)
LENGTH = 2048  # approximate length of a repeated source
UNKNOWN_TIMES = 128  # for one of unknown length
SHORT = 256  # elements of an epoch that passes take whole
SHOWN = 4  # elements that the script's own loop gets
OF_A_LINE = 3  # most pipelines timed per line: a loop over windows makes one for each
SOURCES = ("TextLineDataset", "TFRecordDataset", "FixedLengthRecordDataset")
STATIC = ("from_tensor_slices", "from_tensors", "from_generator", "range", "list_files")


def scripts():
    loader = importlib.machinery.SourceFileLoader("tf_scripts", str(PEER))
    spec = importlib.util.spec_from_loader("tf_scripts", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


RUN = scripts()


class Seen:
    """What a script did, recorded through its calls."""

    def __init__(self, name, is_parallel):
        self.name, self.is_parallel = name, is_parallel
        self.is_inside, self.pipelines = False, []  # [(label, dataset, how it is read)]
        self.repeated = []  # [(repeated source, the source, times)]

    @contextlib.contextmanager
    def inside(self):
        self.is_inside = True
        try:
            yield
        finally:
            self.is_inside = False

    def is_of_script(self):
        return not self.is_inside and tf.executing_eagerly()

    def label(self):
        """The calling line of the script, and which pipeline of that line it is; None if there were enough from that
        line."""
        frame = sys._getframe()
        while frame and not frame.f_code.co_filename.endswith(f"/{self.name}.py"):
            frame = frame.f_back
        line = frame.f_lineno if frame else 0
        same = sum(label.split(".")[0] == str(line) for label, _, _ in self.pipelines)
        return f"{line}.{same + 1}" if same < OF_A_LINE else None

    def source(self, make):
        """A source, repeated."""

        @functools.wraps(make)
        def made(*args, **more):
            if not self.is_of_script():
                return make(*args, **more)
            with self.inside():
                ds = make(*args, **more)
                n = int(ds.cardinality())
                return self.again(ds, max(1, -(-LENGTH // n) if n > 0 else UNKNOWN_TIMES)) if n else ds

        return plain(made)

    def again(self, ds, times):
        repeated = ds.repeat(times)
        self.repeated.append((repeated, ds, times))
        return repeated

    def skip(self, skip):
        """Elements that a script skips in a source (a header) are skipped in each repetition."""

        def skipped(ds, count, *args, **more):
            found = [entry for entry in self.repeated if entry[0] is ds] if self.is_of_script() else []
            if not found:
                return skip(ds, count, *args, **more)
            with self.inside():
                _, source, times = found[0]
                return self.again(skip(source, count, *args, **more), times)

        return plain(skipped)

    def take(self, take):
        def taken(ds, count, *args, **more):
            if self.is_of_script() and count > 0:
                count *= UNKNOWN_TIMES
            return take(ds, count, *args, **more)

        return plain(taken)

    def parallel(self, method):
        @functools.wraps(method)
        def called(ds, *args, **more):
            if self.is_parallel and self.is_of_script() and len(args) < 2:
                more.setdefault("num_parallel_calls", tf.data.AUTOTUNE)
            return method(ds, *args, **more)

        return plain(called)

    def reader(self, read, how):
        def reading(ds, *args, **more):
            if not self.is_of_script():
                return read(ds, *args, **more)
            label = self.label()
            with self.inside():
                if label:
                    self.pipelines.append((label, self.ending(ds), how))
                it = read(ds, *args, **more)
            return itertools.islice(it, SHOWN)

        return reading

    def single(self, get):
        """The first element: a repeated source has more. Inside functions, unchanged."""

        def single(ds, *args, **more):
            return next(iter(ds)) if self.is_of_script() else get(ds, *args, **more)

        return plain(single)

    def ending(self, ds):
        return ds.prefetch(tf.data.AUTOTUNE) if self.is_parallel else ds


def plain(function):
    """AutoGraph ignores it."""
    return function if OWN else tf.autograph.experimental.do_not_convert(function)


@contextlib.contextmanager
def watched(seen):
    """Routes tf's names through `seen`."""
    dataset, undo = tf.data.Dataset, []

    def put(where, name, new):
        undo.append((where, name, inspect.getattr_static(where, name)))
        setattr(where, name, new)

    for name in STATIC:
        put(dataset, name, staticmethod(seen.source(getattr(dataset, name))))
    for name in SOURCES:
        put(tf.data, name, seen.source(getattr(tf.data, name)))
    table = tf.data.experimental
    put(table, "CsvDataset", seen.source(table.CsvDataset))
    put(dataset, "take", seen.take(dataset.take))
    put(dataset, "skip", seen.skip(dataset.skip))
    put(dataset, "get_single_element", seen.single(dataset.get_single_element))
    for name in ("map", "interleave"):
        put(dataset, name, seen.parallel(getattr(dataset, name)))
    for name, how in (("__iter__", "iter"), ("as_numpy_iterator", "numpy")):
        put(dataset, name, seen.reader(getattr(dataset, name), how))
    try:
        yield
    finally:
        for where, name, old in reversed(undo):
            setattr(where, name, old)


@functools.lru_cache(maxsize=1)
def pipelines_of(path):
    """{False: as written, True: parallel} of [(label, dataset, how it is read)], and what failed."""
    out, failures, folders = {}, [], []
    for is_parallel in (False, True):
        seen = Seen(pathlib.Path(path).stem, is_parallel)
        folders.append(tempfile.TemporaryDirectory(prefix="tf-scripts-"))
        try:
            with watched(seen):
                RUN.run_in(folders[-1].name, pathlib.Path(path), MODULE)
        except Exception as e:
            failures.append(f"{type(e).__name__}: {e}"[:200])
        out[is_parallel] = seen.pipelines
    return out, failures, folders


def options_of(setting):
    options = tf.data.Options()
    if setting.get("in order") is False:
        options.deterministic = False
    if setting.get("autotune") is False:
        options.autotune.enabled = False
    if "pool" in setting:
        options.threading.private_threadpool_size = setting["pool"]
        options.threading.max_intra_op_parallelism = 1
    if setting.get("fusion"):
        names = ("map_and_batch_fusion", "map_fusion", "filter_fusion", "map_and_filter_fusion")
        for name in names:
            setattr(options.experimental_optimization, name, True)
    return options


def script(path):
    """The labels of its pipelines."""

    def run():
        out, failures, _ = pipelines_of(path)
        labels = [label for label, _, _ in out[False]]
        if len(out[True]) != len(labels):
            failures = failures + ["other pipelines when parallel"]
        return {"labels": labels, "failures": failures}

    return run


class Drain:
    """Takes elements of a pipeline, pass by pass: the next pass continues where one ended, or restarts at the end of
    the dataset. For a short one (unique() of a repeated source) a pass takes whole epochs, so the cost of its end is
    spread over all of its elements."""

    def __init__(self, read):
        self.read, self.it = read, None
        self.of_epoch = self.epoch = 0  # elements taken of the current epoch, and of a whole one; 0: unknown

    def some(self, most):
        """Takes that many, or the rest of the epoch."""
        if self.it is None:
            self.it, self.of_epoch = iter(self.read()), 0
        got = sum(1 for _ in itertools.islice(self.it, most))
        self.of_epoch += got
        if got < most:
            if not self.of_epoch:
                raise ValueError("the pipeline is empty")
            side.SPENT.append(self.it)
            self.it, self.epoch = None, self.of_epoch
        return got

    def __call__(self, n):
        taken = 0
        while taken < n:
            taken += self.some(n - taken)
        while 0 < self.epoch <= SHORT and self.it is not None:
            taken += self.some(SHORT)
        return taken


def pipeline(path, label, n, setting):
    """A pass over about n elements of a script's pipeline; returns how many, and an epoch's number if it is short."""
    out, _, _ = pipelines_of(path)
    found = {label: (ds, how) for label, ds, how in out[bool(setting.get("parallel"))]}
    ds, how = found[label]
    ds = ds.with_options(options_of(setting))
    how = setting.get("read", how)
    read = ds.as_numpy_iterator if how == "numpy" else lambda: iter(ds)
    drain = Drain(read)

    def run():
        answer = side.timed(lambda: drain(n))
        return dict(answer, elements=answer["batches"], epoch=drain.epoch if drain.epoch <= SHORT else 0)

    return run


def versions():
    return {MODULE: tf.__version__}


if __name__ == "__main__":
    side.serve({"script": script, "pipeline": pipeline}, versions)
