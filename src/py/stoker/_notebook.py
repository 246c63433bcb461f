# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="import-not-found,import-untyped"
"""Notebooks: a report as HTML with its bars and ribbon, and the magics of `%load_ext stoker`.

    %stoker why trace.json.gz           shown as a report, unless it has options
    %stoker stats kernels trace.json.gz any other command: its text
    %%stoker                            the cell runs under torch.profiler, and its report follows
    loss = model(x).sum(); loss.backward()

Names from a profile are escaped; the page has no script and loads nothing.
"""

import html
import os
import shlex
import subprocess
import tempfile
from typing import Any

from ._program import ProfileError, Report, program, why

# by the first key that a part's name starts with (profile/model/parts.def)
COLORS = {"compute": "#2f7d4f", "compile": "#8c564b", "input": "#c4572c", "communication": "#7b5bb5", "collective": "#7b5bb5",
          "transfer": "#b8860b", "host": "#3a6ea5", "kernel_launch": "#5d8aa8"}  # fmt: skip
PARTS_LEAST = 0.005  # of the step: shorter parts have no bar


def _color(part: str) -> str:
    return next((color for known, color in COLORS.items() if part.startswith(known)), "#8a8a8a")


def _bar(label: str, share: float) -> str:
    width = max(0.0, min(1.0, share)) * 100
    return (
        f'<tr><td style="text-align:left">{html.escape(label)}</td><td style="width:20em"><div style="background:{_color(label)};'
        f'height:0.9em;width:{width:.1f}%"></div></td><td style="text-align:right">{share:.1%}</td></tr>'
    )


def bars(report: Report) -> str:
    parts = [p for p in report.get("breakdown", {}).get("parts", []) if p.get("share", 0) >= PARTS_LEAST]
    rows = "".join(_bar(p["id"], float(p["share"])) for p in sorted(parts, key=lambda p: -p["share"]))
    return f'<table class="stoker-bars">{rows}</table>' if rows else ""


def ribbon(report: Report) -> str:
    """The median step's parts next to each other, with widths by time; "" if the report has no step."""
    step = report.get("breakdown", {}).get("median_step") or {}
    parts = [(str(p["id"]), float(p["ns"])) for p in step.get("parts", []) if p.get("ns", 0) > 0]
    total = sum(ns for _, ns in parts)
    if total <= 0:
        return ""
    cells = "".join(
        f'<div title="{html.escape(name)}: {ns / 1e6:.3g} ms" style="background:{_color(name)};width:{ns / total:.3%}"></div>'
        for name, ns in parts
    )
    return f'<div class="stoker-ribbon" style="display:flex;height:1.4em;max-width:40em">{cells}</div>'


def page(report: Report) -> str:
    """For _repr_html_."""
    sentence = report.get("verdict", {}).get("sentence")
    head = f"<p><b>{html.escape(str(sentence))}</b></p>" if sentence else ""
    text = f'<pre style="line-height: 1.2">{html.escape(report.text)}</pre>'
    return f'<div class="stoker">{head}{ribbon(report)}{bars(report)}<details open><summary>report</summary>{text}</details></div>'


def _command(line: str) -> Any:
    words = [os.path.expanduser(w) for w in shlex.split(line)]
    if words and words[0] == "why" and not any(w.startswith("-") for w in words):
        return why(*words[1:])
    alone = {**os.environ, "STOKER_MPI": "off"}
    done = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=alone)
    print(done.stdout, end="")
    if done.stderr:
        print(done.stderr, end="")
    return None


def _cell(code: str, shell: Any) -> Any:
    """Runs a cell under torch.profiler, with the notebook's names."""
    import torch

    kinds = [torch.profiler.ProfilerActivity.CPU]
    if torch.cuda.is_available():
        kinds.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=kinds, record_shapes=True) as prof:
        result = shell.run_cell(code)
    if not result.success:
        return None
    with tempfile.TemporaryDirectory(prefix="stoker-cell-") as folder:
        path = os.path.join(folder, "cell.pt.trace.json.gz")
        prof.export_chrome_trace(path)
        return why(path)


def load_ipython_extension(shell: Any) -> None:
    """%load_ext stoker"""

    def stoker(line: str, cell: Any = None) -> Any:
        try:
            return _command(line) if cell is None else _cell(cell, shell)
        except (ProfileError, FileNotFoundError, ImportError) as e:
            print(f"stoker: {e}")
            return None

    shell.register_magic_function(stoker, magic_kind="line_cell", magic_name="stoker")
