# SPDX-License-Identifier: Apache-2.0
"""Figures as text: rates, times, ratios, the Markdown table."""

import statistics


def value_of(unit, figures):
    """One pass as a number of the unit (rates and times: s per element); None: there is none."""
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
    """Bytes a second, processors' time, what else a row has to say."""
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
    """The wait that one of 1000 exceeds (the longest of fewer), as a share of the step."""
    return statistics.median(p[key] / p["step"] for p in passes)


def rows_of(results):
    """Markdown lines; results: [(case, [(row, passes or error text)])]."""
    lines = [
        "| work | tool | median | best | more | time over ours | aim |",
        "|---|---|---:|---:|---|---:|---|",
    ]
    for case, found in results:
        ours = None
        for row, passes in found:
            title = case.title if row is found[0][0] else ""
            if isinstance(passes, str):
                lines.append(f"| {title} | {row.label} | {passes} | | | | |")
                continue
            median, best = summary(case.unit, passes)
            if (
                row.side == "stoker"
                and median
                and case.unit not in ("busy", "reach", "cores")
                and row.function != "assemble_copy"
                and (ours is None or median < ours)
            ):
                ours = median
            lines.append(
                f"| {title} | {row.label} | {shown(case.unit, median)} | "
                f"{shown(case.unit, best)} | "
                f"{extra(case, row, passes)} | "
                f"{ratio(row, median, ours)} | {verdict(case, row, passes, median, ours)} |"
            )
    return lines


def ratio(row, median, ours):
    return f"{median / ours:,.3g} x" if row.side != "stoker" and ours and median else ""


def met(text, is_met):
    return f"{text}: {'met' if is_met else 'missed'}"


def verdict_of_processor(case, row, passes):
    """Of a row whose aim is a rate of one processor's time."""
    what, least = row.aim
    rate = statistics.median(
        p["bytes" if what == "bytes" else "elements"] / p["cpu"] for p in passes
    )
    if what == "bytes":
        return met(f"{least / 1e9:g} GB/s a processor ({rate / 1e9:.2f})", rate >= least)
    unit = case.unit.partition("/")[0]
    return met(f"{least:,.0f} {unit}/s a processor ({rate:,.0f})", rate >= least)


def verdict(case, row, passes, median, ours):
    """Whether the aim of a row is met."""
    if row.side == "stoker" and row.aim:
        return verdict_of_processor(case, row, passes)
    if row.side == "stoker" and row.function == "assemble":
        return met("no page faults", all(p["faults"] < p["elements"] for p in passes))
    if row.function in ("paced_ready", "paced_in_bursts"):
        return ""
    if row.side == "stoker" and case.unit == "busy":
        is_met = median is not None and median >= 0.99 and late(passes) < 0.01
        return met("at least 99 %, p99.9 < 1 %", is_met)
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
    if row.aim is None or not ours or not median:
        return ""
    return met(f"{row.aim:g} x", median / ours >= row.aim)
