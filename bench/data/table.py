# SPDX-License-Identifier: Apache-2.0
"""Figures as text: rates, times, ratios, the Markdown table."""

import statistics


def value_of(unit, figures):
    """One pass as a number of the unit (rates and times: s per element); None: there is none."""
    if unit == "busy":
        return figures.get("busy")
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
    if unit == "busy":
        return f"{value:.1%}"
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
    if case.unit == "busy":
        parts.append(
            f"step {passes[0]['step'] * 1e3:.0f} ms, "
            f"longest wait {max(p['longest_wait'] for p in passes) * 1e3:.0f} ms"
        )
    if case.unit == "us" and "floor" in passes[0]:
        floor = statistics.median(p["floor"] for p in passes)
        nothing = statistics.median(p["nothing"] for p in passes)
        parts.append(
            f"np.frombuffer in its place {floor * 1e6:.2f} us, "
            f"next() of itertools.repeat {nothing * 1e6:.2f} us"
        )
    if case.unit == "reach":
        parts.append(
            f"best fixed {passes[0]['best_rate']:,.0f} images/s, "
            f"reached {max(p['top_rate'] for p in passes):,.0f}"
        )
    return ", ".join(parts)


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
                and case.unit not in ("busy", "reach")
                and (ours is None or median < ours)
            ):
                ours = median
            lines.append(
                f"| {title} | {row.label} | {shown(case.unit, median)} | "
                f"{shown(case.unit, best)} | "
                f"{extra(case, row, passes)} | "
                f"{ratio(row, median, ours)} | {verdict(case, row, median, ours)} |"
            )
    return lines


def ratio(row, median, ours):
    return f"{median / ours:,.3g} x" if row.side != "stoker" and ours and median else ""


def verdict(case, row, median, ours):
    """Whether the aim of a row is met."""
    if row.side == "stoker":
        aims = {
            "busy": ("at least 99 %", lambda v: v >= 0.99),
            "reach": ("2 s", lambda v: v <= 2),
            "us": ("2 us", lambda v: v <= 2e-6),
        }
        if case.key.startswith("overhead") and case.unit == "ns":
            aims["ns"] = ("50 ns", lambda v: v <= 50e-9)
        if case.unit not in aims:
            return ""
        text, met = aims[case.unit]
        return f"{text}: {'met' if median is not None and met(median) else 'missed'}"
    if row.aim is None or not ours or not median:
        return ""
    return f"{row.aim:g} x: {'met' if median / ours >= row.aim else 'missed'}"
