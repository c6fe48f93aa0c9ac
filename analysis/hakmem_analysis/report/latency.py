"""Latency of single calls, and which path the slow ones took, as rows of text."""

from __future__ import annotations

import pandas as pd

from ..blocks import Selection
from ..call_paths import PATHS, CallPaths, PathTimes, call_paths, tail_name
from ..files import Json
from ..plan import Plan
from ..stats.multiple import proportion_interval
from ..units import plain


def latency(plan: Plan, selection: Selection) -> list[Json]:
    """A section for each cell whose calls were timed."""
    found = []
    for cell in plan.cells:
        rows = selection.valid[selection.valid["cell"] == cell.name]
        section = _section(plan, rows) if len(rows) else None
        if section is not None:
            found.append({"cell": cell.name, **section})
    return found


def _section(plan: Plan, rows: pd.DataFrame) -> Json | None:
    arms = []
    for arm in plan.arms:
        times = call_paths(rows[rows["arm"] == arm.name])
        if times is not None:
            arms.append((arm.name, times))
    if not arms:
        return None
    return {"rows": [_summary(*arm) for arm in arms], "arms": [_arm(*arm) for arm in arms]}


def _ns(value: float) -> str:
    return plain(value, 1) if value < 100 else f"{value:,.0f}"


def _pct(part: float, whole: float, digits: int = 2) -> str:
    return f"{plain(100.0 * part / whole, digits)} %" if whole else "–"


def _summary(name: str, times: CallPaths) -> list[str]:
    figures = [times.p50_ns, times.p99_ns, times.p99_9_ns, times.max_ns]
    return [name, str(times.runs), f"{times.calls:,}", *(_ns(figure) for figure in figures)]


def _arm(name: str, times: CallPaths) -> Json:
    return {
        "name": name,
        "missing": times.missing,
        "rows": [_row(path, times) for path in times.paths],
        "owner": owner_text(times),
        "slowest": slowest_text(times),
    }


def _row(path: PathTimes, times: CallPaths) -> list[str]:
    return [
        PATHS[path.path],
        f"{path.calls:,}",
        _pct(path.calls, times.calls),
        _pct(path.total_ns, times.total_ns),
        _ns(path.p50_ns),
        _ns(path.p99_ns),
        _ns(path.max_ns),
        f"{path.beyond:,}",
    ]


def owner_text(times: CallPaths) -> str:
    """Which path owns the calls beyond p99.9, in one sentence."""
    owner = times.owner
    if owner is None:
        return "No call lies beyond the bucket of p99.9." if times.paths else ""
    low, high = proportion_interval(owner.beyond, times.beyond)
    return (
        f"The calls beyond p99.9 belong first to **{tail_name(owner.path)}**: {owner.beyond:,} of "
        f"{times.beyond:,}, {_pct(owner.beyond, times.beyond, 1)} (95 % {plain(100.0 * low, 1)}…"
        f"{plain(100.0 * high, 1)} %)."
    )


def slowest_text(times: CallPaths) -> str:
    """The slowest calls in one line; "" where none is known."""
    shown = []
    for call in times.slowest:
        path = f", {tail_name(call['path'])}" if call.get("path") else ""
        shown.append(f"{call['call']} of {call['size']:,} bytes {_ns(call['ns'])} ns{path}")
    return "; ".join(shown)


def path_row(times: CallPaths) -> list[str]:
    """For a table with one row a cell: timed calls, share of slow paths in calls and in time, owner
    of what is beyond p99.9, slowest call. The paths must be known."""
    fast = next((path for path in times.paths if path.path == "fast"), None)
    slow_calls = times.calls - (fast.calls if fast else 0)
    slow_ns = times.total_ns - (fast.total_ns if fast else 0.0)
    owner = times.owner
    owned = "–"
    if owner is not None:
        owned = f"{tail_name(owner.path)} ({_pct(owner.beyond, times.beyond, 0)})"
    return [
        f"{times.calls:,}",
        _pct(slow_calls, times.calls),
        _pct(slow_ns, times.total_ns, 1),
        owned,
        slowest_text(times).split("; ")[0] or "–",
    ]
