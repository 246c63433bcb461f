# SPDX-License-Identifier: Apache-2.0
"""Tables of what bench/capture/jobs measured. With several rounds, prints each figure's median, with the least and the
largest; a ratio is between two runs of the same round.

The window's steps are those that end when the hooks say, on the stopwatch's own clock: hooks that count fetches start
some steps later than it does. A window's wait is compared without its first and last step: there the profiler starts,
or ends and writes its file, which is in the stopwatch's steps but in no profile.

stoker's cost is the ratio of the fastest tenth of the steps: other programs and clock changes only add time, and the
medians of two runs of one job differ by more than what is measured here. Both are printed."""

import os
import pathlib
import platform
import statistics

WAIT_WITHIN, CACHED_WITHIN = 0.05, 0.05
WARM = 10  # first steps, not counted in any figure


def read_jobs(path):
    """Rows of a tab-separated file, by column name; lines starting with # are comments."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    head = lines[0].split("\t")
    return [dict(zip(head, line.split("\t"))) for line in lines[1:]]


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def spread(values, form):
    """Median, and range if there are several."""
    if not values:
        return "-"
    middle = form.format(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({form.format(min(values))} to {form.format(max(values))})"


def steps_outside(side):
    """Seconds of the steps outside the window: after the warm-up, and after the window if there is one."""
    return side["watch"]["step_s"][WARM + 10 :]


def window_of(side):
    """The window's steps except the first and the last, as indices into the stopwatch's list; None: unknown."""
    ends = side["watch"].get("ends_s", [])
    at = [min(range(len(ends)), key=lambda i: abs(ends[i] - end)) for end in side.get("window_ends_s", []) if ends]
    return slice(at[1], at[-1]) if len(at) > 2 else None


def said_wait(side):
    """The profile's share of the same steps."""
    steps = side["window_steps"]
    inner = [s for s in steps if s["number"] not in (steps[0]["number"], steps[-1]["number"])]
    whole = sum(s["ns"] for s in inner)
    return sum(s["wait_ns"] for s in inner) / whole if whole else None


def true_wait(side, where=slice(None), watches=("watch",)):
    """The stopwatch's share, over all ranks if there are several; None if it saw no wait at all: Keras fetches in the
    compiled step, and only an input with its own stopwatch shows it."""
    seen = [side[name] for name in watches if name in side]
    if not any(any(watch["wait_s"]) for watch in seen):
        return None
    steps = sum(sum(watch["step_s"][where]) for watch in seen)
    return min(sum(sum(watch["wait_s"][where]) for watch in seen) / steps, 1.0) if steps else None


def median_ratio(a, b):
    """Median step of a over that of b, both outside windows."""
    if "watch" not in a or "watch" not in b:
        return None
    return statistics.median(steps_outside(a)) / statistics.median(steps_outside(b))


def least(steps):
    """Time of the fastest tenth of the steps."""
    return sorted(steps)[len(steps) // 10]


def least_ratio(a, b):
    """Like median_ratio, for the fastest tenth."""
    if "watch" not in a or "watch" not in b:
        return None
    return least(steps_outside(a)) / least(steps_outside(b))


def window_ratio(run, profiler):
    """A step in stoker's window over one in the framework profiler's, set up by hand."""
    if "window" not in run.get("run", {}) or "watch" not in profiler:
        return None
    by_hand = profiler["watch"]["step_s"][WARM + 1 : WARM + 5]
    window = run["run"]["window"]
    where = window_of(run) or slice(max(window["first_step"] - 1, 0), window["first_step"] - 1 + max(window["steps"] - 1, 1))
    return statistics.median(run["watch"]["step_s"][where]) / statistics.median(by_hand)


def figures(job, sides):
    """For one round of a job: figure -> value; unknown ones are absent."""
    alone, run, level0 = (sides.get(s, {}) for s in ("alone", "run", "level0"))
    cached, constant = sides.get("cached", {}), sides.get("constant", {})
    found = {}
    if "run" in run and "watch" in run:
        if "verdict" in run:
            found["verdict"] = run["verdict"]["kind"]
            found["right"] = run["verdict"]["kind"] in job["verdict"].split("|")
        if window_of(run):
            found["true_wait"], found["wait"] = true_wait(run, window_of(run), ("watch", "watch_1")), said_wait(run)
        if run["run"].get("input"):
            found["true_whole"], found["whole"] = true_wait(run), run["run"]["input"]["wait_share"]
        found["own"] = run["run"]["overhead_share"]
        found["window"] = window_ratio(run, sides.get("profiler", {}))
    if "watch" in alone:
        watched = [s["watch"]["losses"] for s in (run, level0) if "watch" in s]
        found["losses"] = bool(watched) and all(losses == alone["watch"]["losses"] for losses in watched)
        found["outside"], found["level0"] = least_ratio(run, alone), least_ratio(level0, alone)
        found["median"] = median_ratio(run, alone)
        if "begins_after_s" in run:
            found["later_ms"] = 1000 * (run["begins_after_s"] - alone["begins_after_s"])
    found["cached"] = least_ratio(cached, constant)
    return {name: value for name, value in found.items() if value is not None}


def collect(rows, name):
    return [row[name] for row in rows if name in row]


def wait_cell(rows, said, true):
    """The reported and the true value, and whether every round is close enough; None: not measured."""
    pairs = [(row[said], row[true]) for row in rows if said in row and true in row]
    if not pairs:
        return "-", None
    worst = max(pairs, key=lambda pair: abs(pair[0] - pair[1]))
    return f"{worst[0]:.2f}/{worst[1]:.2f}", abs(worst[0] - worst[1]) <= WAIT_WITHIN


def truth_lines(jobs, by_job):
    """The table of what is right, and its totals."""
    lines = ["| job | verdict | wait in the window, reported/true | in the whole run | cached/by hand | losses |", "|---|---|---:|---:|---:|---|"]
    sums = {name: [0, 0] for name in ("verdict", "window", "whole", "cached", "losses")}

    def mark(name, good, text):
        if good is None:
            return text
        sums[name][0] += good
        sums[name][1] += 1
        return text if good else f"**{text}**"

    for job in jobs:
        rows = by_job.get(job["job"])
        if not rows:
            continue
        kinds, cached = collect(rows, "verdict"), collect(rows, "cached")
        window, whole = wait_cell(rows, "wait", "true_wait"), wait_cell(rows, "whole", "true_whole")
        near = abs(statistics.median(cached) - 1) <= CACHED_WITHIN if cached else None
        same = all(collect(rows, "losses"))
        lines.append(
            f"| `{job['job']}` | {mark('verdict', all(collect(rows, 'right')), ', '.join(dict.fromkeys(kinds)))} "
            f"| {mark('window', window[1], window[0])} | {mark('whole', whole[1], whole[0])} "
            f"| {mark('cached', near, spread(cached, '{:.3f}'))} | {mark('losses', same, 'same' if same else 'differ')} |"
        )
    names = {"verdict": "verdicts", "window": "waits in the window", "whole": "waits in the whole run", "cached": "free inputs", "losses": "losses"}
    lines += ["", "Right: " + ", ".join(f"{names[n]} {good} of {of}" for n, (good, of) in sums.items()) + "."]
    return lines


def cost_lines(jobs, by_job):
    lines = [
        "| job | steps outside the window | their medians | `--level 0` | a step in the window, over the profiler alone | by its own figures | start, ms later |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for job in jobs:
        rows = by_job.get(job["job"])
        if not rows:
            continue
        own = [100 * share for share in collect(rows, "own")]
        cells = [spread(collect(rows, name), "{:.3f}") for name in ("outside", "median", "level0", "window")]
        lines.append(f"| `{job['job']}` | {' | '.join(cells)} | {spread(own, '{:.2f}%')} | {spread(collect(rows, 'later_ms'), '{:.0f}')} |")
    every = [row for rows in by_job.values() for row in rows]
    cells = [spread(collect(every, name), "{:.3f}") for name in ("outside", "median", "level0", "window")]
    own = [100 * share for share in collect(every, "own")]
    lines.append(f"| all | {' | '.join(cells)} | {spread(own, '{:.2f}%')} | {spread(collect(every, 'later_ms'), '{:.0f}')} |")
    return lines


def page(jobs, rounds):
    """The whole page."""
    by_job, loads, names = {}, [], {job["job"]: job for job in jobs}
    for one in rounds:
        by_job.setdefault(one["job"], []).append(figures(names[one["job"]], one["sides"]))
        loads += [side["load"] for side in one["sides"].values() if "load" in side]
    failed = [(one["job"], side) for one in rounds for side, seen in one["sides"].items() if "failed" in seen]
    head = [
        f"{os.cpu_count()} x {processor()}, Linux {platform.release()}; load before each run: {spread(loads, '{:.1f}')}; "
        f"{max((len(rows) for rows in by_job.values()), default=0)} rounds; command: `bench/capture/jobs STOKER ENVS`.",
        "",
        f"Runs that failed: {', '.join(f'{job} ({side})' for job, side in failed) or 'none'}.",
    ]
    parts = [head, ["## Cost", ""], cost_lines(jobs, by_job), ["## Correctness", ""], truth_lines(jobs, by_job)]
    return "\n".join("\n".join(part) + "\n" for part in parts)
