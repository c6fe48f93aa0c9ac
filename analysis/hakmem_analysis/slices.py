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
AA_LEVEL = 0.01  # an A/A interval of this confidence that excludes 0 makes the result INVALID


def process_rates(slices: Sequence[Any], first: str, second: str) -> tuple[float, float] | None:
    """Geometric mean rates (operations per second) of both arms over the complete ABBA groups of one
    process. Takes [{"arm", "ops", "seconds"}, …]; None where no complete group is there."""
    rates: dict[str, list[float]] = {first: [], second: []}
    for start in range(0, len(slices) - 3, 4):
        group = slices[start : start + 4]
        names = [piece["arm"] for piece in group]
        is_abba = names[0] == names[3] and names[1] == names[2] and set(names) == {first, second}
        if not is_abba or any(p["ops"] <= 0 or p["seconds"] <= 0 for p in group):
            continue
        for piece in group:
            rates[piece["arm"]].append(piece["ops"] / piece["seconds"])
    if not rates[first]:
        return None
    return float(np.exp(np.mean(np.log(rates[first])))), float(
        np.exp(np.mean(np.log(rates[second])))
    )


def process_pairs(run: Run, cell: str, kind: str, treatment: str) -> Pairs:
    """One pair of rates a process, from samples whose arm is `kind`: "slices" or "slices_aa"."""
    rows = run.samples
    rows = rows[
        (rows["cell"] == cell)
        & (rows["arm"] == kind)
        & (rows["status"] == "ok")
        & rows["void"].isna()
    ]
    found = []
    for block, record in zip(rows["block"], rows["record"]):
        pieces = record.get("slices") if isinstance(record, dict) else None
        rates = process_rates(pieces or [], run.plan.baseline.name, treatment)
        if rates is not None:
            found.append((block, *rates))
    found.sort()
    return Pairs(
        np.array([row[0] for row in found], dtype=np.int64),
        np.array([row[1] for row in found], dtype=float),
        np.array([row[2] for row in found], dtype=float),
    )


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
    go = {Word.GO, Word.STRONG_GO}
    if slices_word not in decided or process_word not in decided or slices_word == process_word:
        return slices_word
    if slices_word in go and process_word in go:
        return Word.GO
    return Word.UNDECIDED
