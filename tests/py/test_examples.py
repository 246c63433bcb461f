# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/data in their small form, those parts that need no other package; and
that a recorded run writes its report."""

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
    "tables": ("small", "large"),
    "static_dataset": ("before", "in_cache", "after"),
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
            c.true(
                re.search(r"^  before +(skipped: |[0-9.]+ s )", text, re.M), f"{path.stem}: {text}"
            )


def test_record():
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "run.stk")
        run("image_map", "--only", "before", STOKER_DATA_RECORD=report)
        c.true(os.path.getsize(report) > 0, "a report")


c.main(globals())
