# SPDX-License-Identifier: Apache-2.0
"""Table of what bench/capture/tune measured: the speed-up by hand, the one that `stoker tune` found, and the second's
share of the time saved by the first."""

FOUND = 0.9  # a fix counts as found from this share of the saving by hand
HEALTHY = 0.02  # of a step: smaller gains don't count


def kept_of(json):
    return [t["fix"] for t in json["tried"] if t["state"] == "kept"]


def ratio_of(json):
    """Time after over time before, from the last proof; 1 if nothing was kept."""
    return json["ratio"]["estimate"] if json["verdict"] == "faster" and "ratio" in json else 1.0


def interval(json):
    r = json.get("ratio", {})
    return f"{r['estimate']:.3f} [{r['low']:.3f}, {r['high']:.3f}]" if json["verdict"] == "faster" and "low" in r else "-"


def share_found(job, one):
    """The share of the fix by hand's saving that was found; None: not both measured, or nothing to save."""
    by_hand, json = one.get("hand", {}).get("ratio"), one.get("tune", {}).get("json")
    if by_hand is None or json is None or by_hand > 1 - HEALTHY:
        return None
    return (1 - ratio_of(json)) / (1 - by_hand)


def is_right(job, one):
    """Did the search end as the job's row says it can? None: not measured."""
    json = one.get("tune", {}).get("json")
    if json is None:
        return None
    if job["tunable"] == "none":
        return json["verdict"] == "nothing-to-gain"
    share = share_found(job, one)
    return None if share is None or job["tunable"] != "yes" else share >= FOUND


def line(job, one):
    tune = one.get("tune", {})
    json = tune.get("json")
    by_hand = one.get("hand", {}).get("ratio")
    share, right = share_found(job, one), is_right(job, one)
    said = json["verdict"] if json else tune.get("failed", "-")
    cells = [
        job["tunable"],
        "-" if by_hand is None else f"{by_hand:.3f}",
        interval(json) if json else "-",
        "-" if share is None else f"{100 * share:.0f}%",
        f"**{said}**" if right is False else said,
        (", ".join(f"`{fix}`" for fix in kept_of(json)) or "nothing") if json else "-",
        f"{tune['seconds'] / 60:.1f}" if json else "-",
    ]
    return f"| `{job['job']}` | {' | '.join(cells)} |"


def page(jobs, results):
    """The table, with what can't be found without an edit last, and its totals."""
    measured = [job for job in jobs if job["job"] in results]
    order = {"yes": 0, "part": 1, "none": 2, "no": 3}
    measured.sort(key=lambda job: (is_right(job, results[job["job"]]) is not False, order[job["tunable"]]))
    lines = [
        "| job | can a setting cure it | by hand | `stoker tune` | of the gain | verdict | kept | min |",
        "|---|---|---:|---:|---:|---|---|---:|",
        *[line(job, results[job["job"]]) for job in measured],
    ]
    rights = [is_right(job, results[job["job"]]) for job in measured]
    worse = [job["job"] for job in measured if ratio_of(results[job["job"]].get("tune", {}).get("json") or {"verdict": ""}) > 1]
    lines += ["", f"As expected: {sum(r is True for r in rights)} of {sum(r is not None for r in rights)}; kept although slower: {', '.join(worse) or 'none'}."]
    return "\n".join(lines) + "\n"
