# SPDX-License-Identifier: Apache-2.0
"""Shared by the jobs: runs each snippet in a separate namespace, or looks up the names that it uses."""

import ast
import contextlib
import io
import json
import pathlib
import sys
import traceback

# What no machine without a GPU, or a job of one process, can run.
ELSEWHERE = ("cuda", "set_visible_devices", "Schedule1F1B", "device_ids", "/GPU", "MultiWorkerMirroredStrategy", "set_modules_to", "memory_kind",
             "get_memory_info", "memory_stats")


def dotted(node):
    """["torch", "cuda", "Event"] of torch.cuda.Event; [] of anything else."""
    out = []
    while isinstance(node, ast.Attribute):
        out.append(node.attr)
        node = node.value
    return [node.id, *reversed(out)] if isinstance(node, ast.Name) else []


def missing_name(code, roots):
    """The first name of a framework's API that is not there, or None."""
    for node in ast.walk(ast.parse(code)):
        path = dotted(node)
        if not path or path[0] not in roots:
            continue
        here = roots[path[0]]
        for i, name in enumerate(path[1:]):
            if not hasattr(here, name):
                return ".".join(path[: i + 2])
            here = getattr(here, name)
    return None


def attempt(code, number, world, roots, use):
    """None: it ran, and what it made works; "names": those are there; else what went wrong."""
    lost = missing_name(code, roots)
    if lost:
        return f"there is no {lost}"
    if any(word in code for word in ELSEWHERE):
        return "names"
    names = world(code)
    before = dict(names)
    path = pathlib.Path(f"snippet_{number}.py").absolute()  # TensorFlow reads the source of functions
    path.write_text(code)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, str(path), "exec"), names)
            use(names, {k: v for k, v in names.items() if before.get(k) is not v})
    except Exception as e:
        where = traceback.extract_tb(e.__traceback__)[-1]
        return f"{type(e).__name__}: {e} ({where.filename}:{where.lineno})"
    return None


def main(world, roots, use):
    results = [attempt(code, i, world, roots, use) for i, code in enumerate(json.load(sys.stdin))]
    print("RESULTS " + json.dumps(results))
