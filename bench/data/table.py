# SPDX-License-Identifier: Apache-2.0
"""Figures as text: rates, times, ratios, the Markdown table."""

import statistics

import cases as C
import search

NOT_COMPARED = ("assemble_copy", "paced_ready", "paced_in_bursts")  # of our side: not our rows


def value_of(unit, figures):
    """One pass as a number in the unit (rates and times: s per element), or None."""
    if unit == "busy":
        return figures.get("busy")
    if unit == "cores":
        return figures["cpu"] / figures["seconds"]
    if unit == "reach":
        return figures.get("reach")
    return figures["seconds"] / figures["elements"]


def shown(unit, value):
    if value is None:
        return "never"
    if unit == "ns":
        return f"{value * 1e9:,.1f} ns" if value < 1e-6 else f"{value * 1e9:,.0f} ns"
    if unit == "us":
        return f"{value * 1e6:.2f} us"
    if unit == "ms":
        return f"{value * 1e3:.3g} ms"
    if unit == "busy":
        return f"{value:.1%}"
    if unit == "cores":
        return f"{value:.2f}"
    if unit == "reach":
        return f"{value:.1f} s"
    if unit == "s":
        return f"{value:.3g} s"
    rate = 1 / value
    text = (
        f"{rate / 1e6:.2f} M"
        if rate >= 1e6
        else f"{rate / 1e3:.3g} k" if rate >= 1e4 else f"{rate:,.0f}"
    )
    return f"{text} {unit}"


def summary(unit, passes):
    """(median, best) of passes; None counts as worst."""
    values = [value_of(unit, p) for p in passes]
    known = [v for v in values if v is not None]
    if len(known) * 2 < len(values) + 1 or not known:
        return None, (min(known) if known else None)
    best = max(known) if unit == "busy" else min(known)
    return statistics.median(known), best


def extra(case, row, passes):
    """Bytes per second, CPU time, and other details of a row."""
    parts = []
    if passes[0].get("bytes"):
        rate = statistics.median(p["bytes"] / p["seconds"] for p in passes)
        parts.append(f"{rate / 1e9:.3g} GB/s")
    if case.unit in ("records/s", "images/s") and "cpu" in passes[0] and row.side != "torch":
        cpu = statistics.median(p["cpu"] / p["elements"] for p in passes)
        parts.append(f"{cpu * 1e6:.3g} us of processors each")
    if case.unit in ("busy", "cores"):
        step = statistics.median(p["step"] for p in passes)
        parts.append(f"step {step * 1e3:.0f} ms")
    if case.unit == "busy":
        parts.append(
            f"p99.9 of waits {late(passes):.2%} of it, "
            f"in the second half {late(passes, 'later_p999_wait'):.2%}, "
            f"longest {max(p['longest_wait'] for p in passes) * 1e3:.1f} ms"
        )
        if "rate_kept" in passes[0]:
            parts.append(
                f"offline rate after it {min(p['rate_kept'] for p in passes):.0%} of before at least"
            )
    if case.unit == "cores" and row.side != "torch":
        cpu = statistics.median(p["cpu"] / p["images"] for p in passes)
        parts.append(
            f"{cpu * 1e6:.3g} us of processors an image, offline "
            f"{statistics.median(p['offline_cpu'] for p in passes) * 1e6:.3g}"
        )
    if case.unit == "ms" and row.side != "torch":
        faults = statistics.median(p["faults"] / p["elements"] for p in passes)
        parts.append(f"{faults:,.1f} page faults each")
    if case.unit == "us" and "floor" in passes[0]:
        floor = statistics.median(p["floor"] for p in passes)
        nothing = statistics.median(p["nothing"] for p in passes)
        parts.append(
            f"np.frombuffer in its place {floor * 1e6:.2f} us, "
            f"next() of itertools.repeat {nothing * 1e6:.2f} us"
        )
    if case.unit == "reach" and "waited" in passes[0]:
        waited = statistics.median(p["waited"] for p in passes)
        parts.append(f"waited for {waited:.2f} s in all")
    elif case.unit == "reach":
        parts.append(
            f"best fixed {passes[0]['best_rate']:,.0f} images/s, "
            f"reached {max(p['top_rate'] for p in passes):,.0f}"
        )
    return ", ".join(parts)


def late(passes, key="p999_wait"):
    """The wait exceeded by one of 1000 (the longest if there are fewer), as a share of the step."""
    return statistics.median(p[key] / p["step"] for p in passes)


def ours_of(case, found, variant=""):
    """The median time of the best of our rows, among those of the same kind as the peer's; None if it isn't a time that
    peers have too."""
    if case.unit in ("busy", "reach", "cores"):
        return None
    medians = [
        summary(case.unit, passes)[0]
        for row, passes in found
        if row.side == "stoker" and row.function not in NOT_COMPARED and not isinstance(passes, str)
        if row.variant in ("", variant)
    ]
    return min((m for m in medians if m), default=None)


def rows_of(results, kept):
    """Markdown lines; results: [(case, [(row, passes or error text)])]. Ours first, then the peers, closest first."""
    lines = [
        "| work | tool | median | best | more | time over ours | aim |",
        "|---|---|---:|---:|---|---:|---|",
    ]
    for case, found in results:
        title = case.title
        for row, passes in sorted(found, key=lambda f: place(case, *f)):
            if isinstance(passes, str):
                lines.append(f"| {title} | {row.label} | {passes} | | | | |")
                title = ""
                continue
            median, best = summary(case.unit, passes)
            ours = ours_of(case, found, row.variant)
            lines.append(
                f"| {title} | {row.label} | {shown(case.unit, median)} | "
                f"{shown(case.unit, best)} | "
                f"{extra(case, row, passes)} | "
                f"{ratio(case, row, kept, median, ours)} | "
                f"{verdict(case, row, kept, passes, median, ours)} |"
            )
            title = ""
    return lines


def place(case, row, passes):
    """Sort key of a row in its case: ours unchanged, peers by time, failures last."""
    if row.side == "stoker":
        return (0, 0)
    if isinstance(passes, str):
        return (2, 0)
    value = summary(case.unit, passes)[0] or float("inf")
    return (1, -value if case.unit == "busy" else value)


def ratio(case, row, kept, median, ours):
    """The peer's time over ours, or why it isn't given."""
    if not row.candidates or not ours:
        return ""
    found, why = search.ratio(kept.get(C.cell(case, row)), median, ours)
    return (f"{found:,.0f} x" if found >= 100 else f"{found:.3g} x") if found else why


def searched(name, record):
    """A line about a cell: the best, the next, and out of how many."""
    found = search.ranking(record)
    if not found:
        return f"{name}: no setting gave a figure"
    unit = record["unit"]
    said = [f"{shown(unit, search.figure(e))} with {search.words(e['setting'])}" for e in found[:3]]
    count = f"{len(found)} of {len(record['tried'])}"
    return f"{name}: {'; then '.join(said)} ({count}, {record['seconds']:.0f} s)"


def settings_of(results, kept):
    """Markdown lines: each peer's best setting and the next two, as found by the search."""
    lines = ["| work | tool | best setting | next | searched |", "|---|---|---|---|---|"]
    for case, found in results:
        for row, _ in found:
            record = kept.get(C.cell(case, row)) if row.candidates else None
            if not row.candidates:
                continue
            if record is None or not search.ranking(record):
                lines.append(f"| {case.title} | {row.label} | not searched | | |")
                continue
            said = [
                f"{search.words(e['setting'])}: {shown(case.unit, search.figure(e))}"
                for e in search.ranking(record)[:3]
            ]
            count = f"{len(search.ranking(record))} combinations, {record['date']}"
            lines.append(
                f"| {case.title} | {row.label} | {said[0]} | {'; '.join(said[1:])} | {count} |"
            )
    return lines


def met(text, is_met):
    return f"{text}: {'met' if is_met else 'missed'}"


def verdict_of_processor(case, row, passes):
    """For a row whose aim is a rate per CPU time."""
    what, least = row.aim
    rate = statistics.median(
        p["bytes" if what == "bytes" else "elements"] / p["cpu"] for p in passes
    )
    if what == "bytes":
        return met(f"{least / 1e9:g} GB/s a processor ({rate / 1e9:.2f})", rate >= least)
    unit = case.unit.partition("/")[0]
    return met(f"{least:,.0f} {unit}/s a processor ({rate:,.0f})", rate >= least)


def verdict(case, row, kept, passes, median, ours):
    """Is a row's aim met?"""
    if row.side == "stoker" and row.aim:
        return verdict_of_processor(case, row, passes)
    if row.side == "stoker" and row.function == "assemble":
        return met("no page faults", all(p["faults"] < p["elements"] for p in passes))
    if row.function in ("paced_ready", "paced_in_bursts"):
        return ""
    if row.side == "stoker" and case.unit == "busy":
        is_met = median is not None and median >= 0.99 and late(passes) < 0.01
        return met("at least 99%, p99.9 < 1%", is_met)
    if row.side == "stoker" and case.unit == "cores":
        offline = statistics.median(p["offline_cpu"] for p in passes)
        cpu = statistics.median(p["cpu"] / p["images"] for p in passes)
        return met("1.15 x offline's time an image", cpu <= 1.15 * offline)
    if row.side == "stoker":
        aims = {
            "reach": ("2 s", lambda v: v <= 2),
            "us": ("2 us", lambda v: v <= 2e-6),
        }
        if case.key.startswith("overhead") and case.unit == "ns":
            aims["ns"] = ("50 ns", lambda v: v <= 50e-9)
        if case.unit not in aims:
            return ""
        text, is_met = aims[case.unit]
        return met(text, median is not None and is_met(median))
    if row.aim is None or not ours or search.refusal(kept.get(C.cell(case, row))):
        return ""
    return met(f"{row.aim:g} x", median / ours >= row.aim)
