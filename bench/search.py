# SPDX-License-Identifier: Apache-2.0
"""Searches a peer's settings, and keeps the results.

A *cell* is one peer at one piece of work. Its candidates are settings (name -> value); each is timed at a short length,
the best FINALISTS again at the full one, alternating, and the best of those counts. All are kept with their figures, so
that readers see what was tried. A finished cell is saved at once: an interrupted search resumes there.

A ratio is printed only for a cell in which at least LEAST combinations gave a figure: see ratio().
"""

import datetime
import json
import os

LEAST = 6
FINALISTS = 3
PASSES = 3  # per finalist
HOPELESS = 4.0  # times the best short figure: slower candidates get no second short pass


class Failed(Exception):
    """A candidate gave no figure; its text is kept instead."""


def search(
    candidates, measure, finalists=FINALISTS, passes=PASSES, shorts=2, say=lambda text: None
):
    """A record of all candidates. measure(setting, is_full) returns seconds per element, or raises Failed; a
    candidate's short figure is the best of `shorts`, the full one the median."""
    tried, best = [], None
    for setting in candidates:
        entry = {"setting": setting}
        try:
            value = measure(setting, False)
            for _ in range(shorts - 1):
                if best is None or value < HOPELESS * best:
                    value = min(value, measure(setting, False))
            entry["short"] = value
            best = value if best is None else min(best, value)
            say(f"  {words(setting)}: {value * 1e9:,.4g} ns")
        except Failed as e:
            entry["error"] = str(e)
            say(f"  {words(setting)}: failed: {e}")
        tried.append(entry)
    chosen = sorted((e for e in tried if "short" in e), key=lambda e: e["short"])[:finalists]
    found = [[] for _ in chosen]
    for _ in range(passes):
        for entry, values in zip(chosen, found):
            try:
                values.append(measure(entry["setting"], True))
            except Failed as e:
                entry["error"] = str(e)
    for entry, values in zip(chosen, found):
        if values and "error" not in entry:
            entry["full"] = sorted(values)[len(values) // 2]
    return {"tried": tried}


def ranking(record):
    """Entries with a figure, best first: finalists by their full figures, then the others."""
    good = [e for e in record["tried"] if "error" not in e]
    full = sorted((e for e in good if "full" in e), key=lambda e: e["full"])
    rest = sorted((e for e in good if "full" not in e), key=lambda e: e["short"])
    return full + rest


def best(record):
    """The setting that counts; None if no candidate gave a figure."""
    found = ranking(record)
    return found[0]["setting"] if found else None


def figure(entry):
    return entry.get("full", entry.get("short"))


def refusal(record):
    """Why no ratio may be printed for this cell; None if it may."""
    if record is None:
        return "settings not searched: no ratio"
    count = len(ranking(record))
    if count < LEAST:
        return f"{count} of at least {LEAST} combinations searched: no ratio"
    return None


def ratio(record, theirs, ours):
    """(their time over ours, None), or (None, why there is no ratio)."""
    why = refusal(record)
    if why or not theirs or not ours:
        return None, why or "no figure: no ratio"
    return theirs / ours, None


def words(setting):
    """A setting for readers; if a value is true, only its name."""
    parts = []
    for name, value in setting.items():
        if value is True:
            parts.append(name)
        elif value is False:
            parts.append(f"not {name}")
        else:
            parts.append(f"{name} {value}")
    return ", ".join(parts) or "defaults"


def product(base, *changes):
    """The base, then the base with each of the changes, as a list of candidates."""
    return [base] + [{**base, **change} for change in changes]


class Kept:
    """The file of finished cells."""

    def __init__(self, path):
        self.path = path
        self.cells = json.loads(path.read_text()) if path.exists() else {}

    def get(self, cell):
        return self.cells.get(cell)

    def put(self, cell, record, versions, machine, quick=False):
        """Saves a finished cell, atomically."""
        today = datetime.date.today().isoformat()
        self.cells[cell] = {"date": today, "machine": machine, "versions": versions, **record}
        if quick:
            self.cells[cell]["quick"] = True
        partial = self.path.with_name(self.path.name + ".partial")
        partial.write_text(json.dumps(self.cells, indent=1) + "\n")
        os.replace(partial, self.path)

    def is_fresh(self, cell, candidates, versions, machine, quick=False, days=1):
        """Was the cell searched over these candidates, with these versions, on this machine, at most so many days ago,
        and at least as long as requested?"""
        record = self.get(cell)
        if record and record.get("quick") and not quick:
            return False
        if record is None or [e["setting"] for e in record["tried"]] != candidates:
            return False
        age = datetime.date.today() - datetime.date.fromisoformat(record["date"])
        same = record["versions"] == versions and record["machine"] == machine
        return same and age.days <= days
