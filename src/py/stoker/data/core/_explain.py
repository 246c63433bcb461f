# SPDX-License-Identifier: Apache-2.0
"""explain(): the plan as text. stats(): what an iterator's stages have done so far."""

from .. import _engine
from . import _dtypes


def explain(dataset, is_staged=False):
    """The stages as written, the last one first, with their functions and why they aren't native; the plan as it runs
    (is_staged: with staging to a device), with every rewrite and its reason; what was tuned; warnings."""
    lines, notes = ["as written:"], []
    left, seen = [(dataset, 1)], {}  # a list: pipelines may be deeper than Python's stack
    while left:
        ds, depth = left.pop()
        inputs = _stage(ds, depth, lines, notes, seen)
        left.extend((i, depth + 1) for i in reversed(inputs))
    if dataset._engine is not None:
        options = dataset._options.run_options()
        options["skips_errors"] = options.get("skips_errors", False)
        plan = dataset._engine.explain(options, is_staged)
        note = " (rewrites are off)" if options["is_as_written"] else ""
        lines += ["", f"as it runs{note}:"] + ["  " + line for line in plan.splitlines()]
        lines += _tuned_lines(dataset)
        limits = _limits_lines()
        lines += ["", *limits] if limits else []
    if notes:
        lines.append("")
        lines.extend(f"note: {n}" for n in dict.fromkeys(notes))
    return "\n".join(lines)


def _limits_lines():
    """The process's limits, if any, and its use."""
    now = _engine.limits()
    most = [f"{now[n]:,} {word}" for n, word in _LIMITS if now[n]]
    if not most:
        return []
    return [
        f"limits of the process: {', '.join(most)}; all pipelines have {now['threads_now']} threads and "
        f"{now['ram_bytes_now']:,} bytes, {now['threads_most']} and {now['ram_bytes_most']:,} at most"
    ]


def _tuned_lines(dataset):
    """Threads and piece sizes, as the last iterator's stages have them now."""
    it = dataset._last() if dataset._last else None
    stages = it.stages() if it is not None else (dataset._past or ([],))[0]
    if not stages:
        return []
    out = []
    for s in stages:
        if not s["threads"] and not s["capacity"]:
            continue  # it runs on its consumer's thread
        at = f" [{s['where']}]" if s["where"] else ""
        threads = f"{s['threads']} thread{'' if s['threads'] == 1 else 's'}"
        capacity = f", {s['capacity']} pieces ready at most" if s["capacity"] else ""
        out.append(f"  {s['kind']}{at}: {threads}{capacity}")
    return ["", "tuned so far:"] + out if out else []


def _stage(ds, depth, lines, notes, seen):
    """The lines of a stage. Its inputs, if not listed before."""
    pad = "  " * depth
    what = ds._kind or "argument of the function"
    shown = ", ".join(f"{k}={_shown(k, v)}" for k, v in ds._args.items() if _is_shown(k, v))
    at = f"  [{ds._where}]" if ds._where else ""
    if id(ds) in seen:
        lines.append(f"{pad}{what} (as above, line {seen[id(ds)]})")
        return []
    lines.append(f"{pad}{what}({shown}) -> {_spec_text(ds.element_spec)}{at}")
    seen[id(ds)] = len(lines)
    if ds._function is not None:
        _function(ds._function, pad + "  | ", lines, notes)
    notes.extend(ds._notes)
    return ds._inputs


def _function(f, pad, lines, notes):
    if f.is_native:
        made = iter(f.made)
        nodes = [(n, w) for n, w in f.fn.nodes() if n != "const"]
        has_all = sum(n == "make_dataset" for n, _ in nodes) == len(f.made)
        ops = []
        for name, where in nodes:
            shown = f"dataset {next(made)}" if name == "make_dataset" and has_all else name
            ops.append(f"{shown} ({where})" if where else shown)
        lines.append(f"{pad}{f.name}: native, {len(ops)} operations")
        lines.extend(f"{pad}  {op}" for op in ops[:40])
        if len(ops) > 40:
            lines.append(f"{pad}  ... {len(ops) - 40} more")
    else:
        lines.append(f"{pad}{f.name}: Python for each element: {f.why}")
    notes.extend(f.notes)


def _is_shown(name, v):
    from .. import _engine

    return not isinstance(v, (_engine.Fn, list, tuple)) and name not in (
        "id",
        "specs",
        "components",
        "order",
        "keeps_paths",
    )


_TUNED = ("num_parallel_calls", "buffer_size", "cycle_length")


def _shown(name, v):
    if name in ("dtype", "output_type") and isinstance(v, int):
        return _dtypes.from_number(v).name
    if hasattr(v, "shape"):
        return f"{v.size} values" if v.size > 4 else str(v.tolist())
    return "AUTOTUNE" if v == -1 and name in _TUNED else repr(v)


def _spec_text(spec):
    text = repr(spec).replace("TensorSpec", "")
    return text if len(text) < 160 else text[:157] + "..."


_LIMITS = (("cpus", "processors"), ("threads", "threads"), ("ram_bytes", "bytes"))
_BINDINGS = (
    None,
    "processors",
    "a part that one thread does",
    "the consumer",
    "threads that wait",
    "memory",
)


class Stats:
    """What an iterator's stages have done: `stages` (dicts, parents first), `memory`, `limiting`.

    memory: bytes in_use_bytes, peak_bytes, cap_bytes; fresh_buffers allocated; arrays `copied` out of the
    budget because their consumer keeps them; elements `replaced` by on_error.

    Times in ns since the start: busy_ns is the CPU time of all threads; wait_ns, time blocked on the
    input; starve_ns, the consumer's time blocked on the stage. achieved_per_s and predicted_per_s, the
    stage's recent and best possible elements per second, need runs of 0.2 s, else None. Stages of
    datasets that a function returned count together. print() shows a table.
    """

    def __init__(self, stages, memory):
        self.stages, self.memory = stages, memory
        self.replaced = memory.get("replaced", 0)

    @property
    def errors(self):
        """Bad elements, and how many were skipped or replaced."""
        return sum(s["errors"] for s in self.stages)

    @property
    def skipped(self):
        return sum(s["skipped"] for s in self.stages)

    @property
    def limiting(self):
        """The stage that the others wait for: the one with the most time per thread."""
        if not self.stages or not any(s["elements"] for s in self.stages):
            return None
        return max(self.stages, key=lambda s: s["busy_ns"] / max(s["threads"], 1))

    @property
    def binding(self):
        """What limits the pipeline, if the tuner knows; else None."""
        known = [s["binding"] for s in self.stages if s["binding"]]
        return _BINDINGS[known[0]] if known else None

    def __getitem__(self, i):
        return self.stages[i]

    def __len__(self):
        return len(self.stages)

    def __iter__(self):
        return iter(self.stages)

    def __repr__(self):
        if not self.stages:
            return "nothing has run yet"
        rows = [("stage", "elements", "busy ms", "wait ms", "starve ms", "threads", "fill")]
        for s in self.stages:
            rows.append(
                (
                    "  " * s["depth"] + s["kind"] + (f" [{s['where']}]" if s["where"] else ""),
                    str(s["elements"]),
                    *(f"{s[k] / 1e6:.2f}" for k in ("busy_ns", "wait_ns", "starve_ns")),
                    str(s["threads"] or "-"),  # -: runs on the consumer's thread
                    f"{s['fill']}/{s['capacity']}" if s["capacity"] else "-",
                )
            )
        widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join(
                c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))
            )
            for r in rows
        ]
        first = self.stages[0]
        if first["predicted_per_s"] is None:
            if any(s["threads"] for s in self.stages):
                lines.append("elements/s: the run is too short to predict")
        else:
            lines.append(
                f"elements/s: {first['achieved_per_s']:,.0f}, predicted {first['predicted_per_s']:,.0f}"
            )
        if self.binding:
            lines.append(f"bound by: {self.binding}")
        limit = self.limiting
        if limit:
            lines.append(
                f"limiting stage: {limit['kind']}"
                + (f" [{limit['where']}]" if limit["where"] else "")
            )
        lines.append(
            "memory: {in_use_bytes:,} bytes in use, {peak_bytes:,} at peak, {cap_bytes:,} allowed".format(
                **self.memory
            )
        )
        lines += _limits_lines()
        for s in self.stages:
            if s["keeps_nothing"]:
                lines.append(
                    s["kind"]
                    + (f" [{s['where']}]" if s["where"] else "")
                    + ": its elements don't fit in the budget: nothing is kept, and "
                    "each pass reads the input again"
                )
        if self.memory.get("copied"):
            lines.append(
                f"{self.memory['copied']:,} arrays copied to their own memory: their consumer keeps "
                "them, and most of the pipeline's memory is in use"
            )
        return "\n".join(lines)


def stats(iterator, past):
    """Stats of an iterator; the last ones if it is gone, empty without one."""
    if iterator is not None:
        return Stats(iterator.stages(), iterator.memory())
    return Stats(*(past or ([], {})))
