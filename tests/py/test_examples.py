# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/data in their small form, except for parts that need other packages; and a recorded run
writes its report."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import checks as c

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples/data"
PARTS = {
    "image_map": ("before", "after"),
    "element_loop": ("loop", "before", "after"),
    "tfrecord_images": ("write", "before", "after"),
    "tables": ("small_before", "small", "large_before", "large"),
    "static_dataset": ("before", "in_cache", "after"),
    "plugin": ("before", "after", "words"),
}


def run(name, *words, **more):
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **more)
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--small", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    c.same(done.returncode, 0, f"{name}: {done.stderr[-500:]}")
    return done.stdout


def test_parts():
    for name, parts in PARTS.items():
        for part in parts:
            text = run(name, "--only", part)
            c.true(
                re.search(rf"^  {part} +[0-9.]+ s +[0-9,]+ \w+/s ", text, re.M), f"{name}: {text}"
            )


def test_all_examples_are_here():
    """Each program runs or says what it misses."""
    for path in sorted(EXAMPLES.glob("*.py")):
        if 'if __name__ == "__main__"' in path.read_text() and path.stem not in PARTS:
            text = run(path.stem)
            want = r"^  (before +)?(skipped: |[0-9.]+ s )|GB/s"
            c.true(re.search(want, text, re.M), f"{path.stem}: {text}")


def test_record():
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "run.stk")
        run("image_map", "--only", "before", STOKER_DATA_RECORD=report)
        c.true(os.path.getsize(report) > 0, "a report")


def test_driver():
    """examples/data/run of one program: a table of times, and each profile read."""
    build = pathlib.Path(os.environ["PYTHONPATH"].split(os.pathsep)[0]).parent
    words = ["--small", "--repeats", "1", "--only", "image_map", "--build", build]
    done = subprocess.run(
        [sys.executable, EXAMPLES / "run", *words], capture_output=True, text=True, timeout=200
    )
    c.same(done.returncode, 0, done.stderr[-500:])
    c.true(
        re.search(r"^\| `image_map`: .* \| images \| [0-9,]+ \| [0-9,]+ \| [0-9.]+ x", done.stdout, re.M),
        done.stdout,
    )
    if (build / "stoker").exists():
        # A stage limits where the consumer waits; the quick form may leave it nothing to wait for.
        for part, stage in (("before", "`Iterator::"), ("after", "(`Iterator::| *\\|)")):
            row = rf"^\| `image_map` `{part}` \| stoker.data \| [a-z-]+ \| +[0-9]+% \| {stage}"
            c.true(re.search(row, done.stdout, re.M), done.stdout)


c.main(globals())
