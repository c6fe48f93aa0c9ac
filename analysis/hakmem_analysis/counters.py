"""Counters of the processor and the kernel per operation, by arm."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from .files import Json
from .units import plain, signed

COUNTERS = (
    "instructions",
    "cycles",
    "branches",
    "branch_misses",
    "cache_references",
    "cache_misses",
    "dtlb_misses",
    "itlb_misses",
    "page_faults",
    "context_switches",
)


@dataclass(frozen=True)
class PerOp:
    """Mean events per operation of one arm. `value` None: not counted, and `reason` says why.
    `least_share`: smallest part of the time that the counter ran, 1.0 unless it took turns."""

    counter: str
    arm: str
    value: float | None
    reason: str
    samples: int
    least_share: float


def counters_per_op(samples: pd.DataFrame, arms: list[str]) -> list[PerOp]:
    """Every counter that the samples name, in the order of COUNTERS, an entry an arm. `samples` are
    valid ones of one cell."""
    found = []
    for counter in COUNTERS:
        if counter not in samples.columns:
            continue
        for arm in arms:
            found.append(_of_arm(samples[samples["arm"] == arm], counter, arm))
    return found


def _of_arm(rows: pd.DataFrame, counter: str, arm: str) -> PerOp:
    values, least, reason = [], 1.0, "no sample"
    for _, row in rows.iterrows():
        record = row["record"] if isinstance(row["record"], dict) else {}
        ops, events = record.get("ops"), row[counter]
        if pd.isna(events):
            missing = row["missing"] if isinstance(row["missing"], dict) else {}
            reason = str(missing.get(counter) or "not recorded")
        elif not ops:
            reason = "the workload reports no operations"
        else:
            values.append(float(events) / float(ops))
            shares = row["counter_shares"] if isinstance(row.get("counter_shares"), dict) else {}
            least = min(least, float(shares.get(counter, 1.0)))
    if not values:
        return PerOp(counter, arm, None, reason, 0, 0.0)
    return PerOp(counter, arm, sum(values) / len(values), "", len(values), least)


def counter_table(samples: pd.DataFrame, names: tuple[str, str]) -> Json | None:
    """The report's table of two arms: {"intro", "rows"}; None where the samples have no counters."""
    found = counters_per_op(samples, list(names))
    if not found:
        return None
    rows, reasons = [], dict[str, list[str]]()
    for base, test in zip(found[0::2], found[1::2]):
        if base.value is None or test.value is None:
            reasons.setdefault(base.reason or test.reason, []).append(base.counter)
            continue
        change = f"{signed(100.0 * (test.value / base.value - 1.0))} %" if base.value else "–"
        least = min(base.least_share, test.least_share)
        ran = "all" if least >= 1.0 else f"{plain(100.0 * least, 0)} %, scaled"
        shown = [plain(base.value, 4), plain(test.value, 4)]
        rows.append([base.counter.replace("_", " "), *shown, change, ran])
    intro = "Events of the whole process per operation of the workload, mean of the runs."
    missing = [
        f"Not counted ({reason}): {', '.join(n.replace('_', ' ') for n in names_)}."
        for reason, names_ in reasons.items()
    ]
    return {"intro": intro if rows else "", "rows": rows, "missing": missing}
