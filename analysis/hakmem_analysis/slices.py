"""Slices mode: both arms inside one process, switched every few milliseconds (ABBA).

The slices of a process share one address layout, so the process is the sample: one difference per
process, t interval over processes. See measurement.md section 7.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from .blocks import Pairs, log_differences
from .load import Run
from .stats import intervals
from .stats.decide import Word

Array = NDArray[np.float64]
LEAST_PROCESSES = 6
CALM = 0.5  # share of the groups of a process that counts: those least disturbed
TRIMMED = 0.2  # share of these that is left out at each end
UNEVEN = 0.55  # share of groups in which one arm varies more, from which on it is no chance
UNEVEN_LEVEL = 0.01
AA_LEVEL = 0.01  # an A/A interval of this confidence that excludes 0 makes the result INVALID


def _groups(slices: Sequence[Any], first: str, second: str) -> Array:
    """Log rates of the complete ABBA or BAAB groups of one process, groups × 4: the two slices of
    the first arm, then those of the second."""
    groups = []
    for start in range(0, len(slices) - 3, 4):
        group = slices[start : start + 4]
        names = [piece["arm"] for piece in group]
        is_abba = names[0] == names[3] and names[1] == names[2] and set(names) == {first, second}
        if not is_abba or any(p["ops"] <= 0 or p["seconds"] <= 0 for p in group):
            continue
        logs = [float(np.log(piece["ops"] / piece["seconds"])) for piece in group]
        outer, inner = (logs[0], logs[3]), (logs[1], logs[2])
        groups.append((*outer, *inner) if names[0] == first else (*inner, *outer))
    return np.array(groups, dtype=float).reshape(-1, 4)


def _spreads(groups: Array) -> Array:
    """How far the two slices of each arm lie apart, groups × 2."""
    return np.abs(groups[:, [0, 2]] - groups[:, [1, 3]])


def process_rates(slices: Sequence[Any], first: str, second: str) -> tuple[float, float] | None:
    """Rates (operations per second) of both arms over the complete ABBA or BAAB groups of one
    process. Takes [{"arm", "ops", "seconds"}, …]; None where no complete group is there.

    Only the calm half of the groups counts: those whose two slices of the *same* arm agree best,
    which says nothing of how the arms differ. Of these the ratio is that of the trimmed mean: ranked
    by their log difference, as many at each end are left out as TRIMMED says. A slice that another
    process interrupted would else outweigh hundreds of others."""
    groups = _groups(slices, first, second)
    if not len(groups):
        return None
    by_calm = np.argsort(_spreads(groups).sum(axis=1), kind="stable")
    calm = groups[by_calm[: int(np.ceil(CALM * len(groups)))]]
    table = calm.reshape(-1, 2, 2).mean(axis=2)
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


def _valid_rows(run: Run, cell: str) -> pd.DataFrame:
    rows = run.samples
    return rows[(rows["cell"] == cell) & (rows["status"] == "ok") & rows["void"].isna()]


def process_pairs(run: Run, cell: str, kind: str, treatment: str) -> Pairs:
    """One pair of values of the plan's metric a process; `kind` is "slices" or "slices_aa"."""
    found = []
    rows = _valid_rows(run, cell)
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


def uneven_arms(run: Run, cell: str, treatment: str) -> str | None:
    """Why the calm half of the groups does not speak for both arms; None where it does. What strikes
    few slices, and only those of one arm, makes them differ among themselves, and such groups do not
    count: a mean over the others would hide it."""
    names = (run.plan.baseline.name, treatment)
    rows = _valid_rows(run, cell)
    tables = [
        _spreads(_groups(_pieces(arm, record, "slices"), *names))
        for arm, record in zip(rows["arm"], rows["record"])
    ]
    spreads = np.concatenate([np.empty((0, 2)), *tables])
    above = [int(np.sum(spreads[:, i] > spreads[:, 1 - i])) for i in (0, 1)]
    if not sum(above):
        return None
    varied = int(np.argmax(above))
    share = stats.binomtest(above[varied], sum(above))
    if share.proportion_ci(1.0 - UNEVEN_LEVEL, "exact").low <= UNEVEN:
        return None
    percent = 100.0 * above[varied] / sum(above)
    return (
        f"the slices of {names[varied]} vary more than those of {names[1 - varied]} "
        f"(in {percent:.0f} % of the groups): what strikes few slices is not seen, use process mode"
    )


def combine(slices_word: Word, process_word: Word) -> Word:
    """The slices verdict beside the process mode's: another decided word makes it UNDECIDED."""
    decided = {Word.GO, Word.STRONG_GO, Word.NO_GO, Word.NEUTRAL}
    if slices_word not in decided or process_word not in decided or slices_word == process_word:
        return slices_word
    if slices_word.is_go and process_word.is_go:
        return Word.GO
    return Word.UNDECIDED
