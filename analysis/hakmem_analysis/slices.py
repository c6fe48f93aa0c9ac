"""Slices mode: both arms inside one process, switched every few milliseconds (ABBA).

The slices of a process share one address layout, so the process is the sample: one difference per
process, t interval over processes. See measurement.md section 7.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from .blocks import Pairs, log_differences
from .load import Run
from .stats import intervals
from .stats.decide import Word

Array = NDArray[np.float64]
LEAST_PROCESSES = 6
TRIMMED = 0.2  # share of the groups of a process that is left out at each end
AA_LEVEL = 0.01  # an A/A interval of this confidence that excludes 0 makes the result INVALID


def process_rates(slices: Sequence[Any], first: str, second: str) -> tuple[float, float] | None:
    """Rates (operations per second) of both arms over the complete ABBA or BAAB groups of one
    process. Takes [{"arm", "ops", "seconds"}, …]; None where no complete group is there.

    The ratio of the rates is that of the groups' trimmed mean: the groups are ranked by their log
    difference, and as many at each end are left out as TRIMMED says, whatever the sign of the
    effect. A slice that another process interrupted would else outweigh hundreds of others."""
    groups = []
    for start in range(0, len(slices) - 3, 4):
        group = slices[start : start + 4]
        names = [piece["arm"] for piece in group]
        is_abba = names[0] == names[3] and names[1] == names[2] and set(names) == {first, second}
        if not is_abba or any(p["ops"] <= 0 or p["seconds"] <= 0 for p in group):
            continue
        logs = [float(np.log(piece["ops"] / piece["seconds"])) for piece in group]
        outer, inner = (logs[0] + logs[3]) / 2.0, (logs[1] + logs[2]) / 2.0
        groups.append((outer, inner) if names[0] == first else (inner, outer))
    if not groups:
        return None
    table = np.array(groups)
    order = np.argsort(table[:, 1] - table[:, 0], kind="stable")
    cut = int(TRIMMED * len(table))
    kept = table[order[cut : len(table) - cut]]
    rates = np.exp(kept.mean(axis=0))
    return float(rates[0]), float(rates[1])


def _pieces(arm: str, record: Any, kind: str) -> Sequence[Any]:
    """The slices of one sample that belong to `kind`: a process may hold its A/A groups beside the
    others (member "slices_aa"), or be an A/A run as a whole (its arm)."""
    if not isinstance(record, dict):
        return []
    if arm == kind:
        return record.get("slices") or []
    return record.get(kind) or [] if arm == "slices" else []


def process_pairs(run: Run, cell: str, kind: str, treatment: str) -> Pairs:
    """One pair of values of the plan's metric a process; `kind` is "slices" or "slices_aa"."""
    rows = run.samples
    rows = rows[(rows["cell"] == cell) & (rows["status"] == "ok") & rows["void"].isna()]
    found = []
    for block, arm, record in zip(rows["block"], rows["arm"], rows["record"]):
        rates = process_rates(_pieces(arm, record, kind), run.plan.baseline.name, treatment)
        if rates is not None:
            found.append((block, *rates))
    found.sort()
    values = np.array([row[1:] for row in found], dtype=float).reshape(-1, 2)
    if run.plan.metric == "ns_per_op":
        values = 1e9 / values
    blocks = np.array([row[0] for row in found], dtype=np.int64)
    return Pairs(blocks, values[:, 0], values[:, 1])


def aa_problem(run: Run, cell: str, treatment: str) -> str | None:
    """Why the A/A part of a slices result does not hold; None where it does."""
    pair = process_pairs(run, cell, "slices_aa", treatment)
    if len(pair.first) < 2:
        return "slices mode without an A/A run of at least 2 processes"
    low, high = intervals.t_interval(intervals.paired(log_differences(pair, 1)), AA_LEVEL)
    if low > 0.0 or high < 0.0:
        ends = f"{intervals.percent(float(low)):+.2f}…{intervals.percent(float(high)):+.2f} %"
        return f"A/A failure: the same arm against itself differs (99 % interval {ends})"
    return None


def combine(slices_word: Word, process_word: Word) -> Word:
    """The slices verdict beside the process mode's: another decided word makes it UNDECIDED."""
    decided = {Word.GO, Word.STRONG_GO, Word.NO_GO, Word.NEUTRAL}
    if slices_word not in decided or process_word not in decided or slices_word == process_word:
        return slices_word
    if slices_word.is_go and process_word.is_go:
        return Word.GO
    return Word.UNDECIDED
