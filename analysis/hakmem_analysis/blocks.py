"""Which samples count: valid blocks, failures, void blocks; and the values of one cell by block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .load import Run

Array = NDArray[np.float64]
FAILURES = ("crash", "timeout", "bad_output", "failed_check", "no_proof")


@dataclass(frozen=True)
class Selection:
    """valid: the ok samples of the attempt that counts, one a (cell, block, arm); void: one row a
    void attempt with its reason; failed: samples that ended in a failure, from any attempt."""

    valid: pd.DataFrame
    void: pd.DataFrame
    failed: pd.DataFrame
    warnings: tuple[str, ...]


def select(run: Run) -> Selection:
    """Applies the rules of docs/design/files.md: an attempt is void as soon as one of its samples
    says so; of the attempts of a block that are not void the last counts; a sample that was
    interrupted never does. Nothing is judged by the throughput."""
    samples = run.samples
    keys = ["cell", "block", "attempt"]
    failed = samples[samples["status"].isin(FAILURES)]
    is_void = samples["void"].notna()
    void = (
        samples[is_void].groupby(keys, sort=False, as_index=False).agg({"void": "first"})
        if is_void.any()
        else pd.DataFrame(columns=[*keys, "void"])
    )
    void_attempts = pd.MultiIndex.from_frame(void[keys])
    attempts = pd.MultiIndex.from_frame(samples[keys])
    usable = samples[~attempts.isin(void_attempts) & (samples["status"] == "ok")]
    last = usable.groupby(["cell", "block"])["attempt"].transform("max")
    usable = usable[usable["attempt"] == last]
    doubled = usable.duplicated(["cell", "block", "arm"], keep="last")
    warnings = [
        f"samples.jsonl:{row.line}: cell {row.cell}, block {row.block}, arm {row.arm} was measured "
        "again later; the later sample counts"
        for row in usable[doubled].itertuples()
    ]
    return Selection(usable[~doubled], void, failed, tuple(warnings))


@dataclass(frozen=True)
class Pairs:
    """Values of two arms of one cell in the same blocks, in block order."""

    blocks: NDArray[np.int64]
    first: Array
    second: Array


def table(selection: Selection, cell: str, metric: str) -> pd.DataFrame:
    """Values of `metric` of one cell: a row a block (rising), a column an arm; NaN where an arm has
    no value there. Empty where the metric was never recorded."""
    rows = selection.valid[selection.valid["cell"] == cell]
    if metric not in rows.columns:
        return pd.DataFrame()
    return rows.pivot(index="block", columns="arm", values=metric).sort_index()


def pairs(values: pd.DataFrame, first: str, second: str) -> Pairs:
    """The blocks in which both arms have a value."""
    if first not in values.columns or second not in values.columns:
        none = np.empty(0)
        return Pairs(np.empty(0, dtype=np.int64), none, none)
    both = values[[first, second]].dropna()
    return Pairs(
        both.index.to_numpy(dtype=np.int64),
        both[first].to_numpy(dtype=float),
        both[second].to_numpy(dtype=float),
    )


def log_differences(pair: Pairs, sign: int) -> Array:
    """d_i = sign·(ln second − ln first). Every value must be above 0."""
    difference: Array = sign * (np.log(pair.second) - np.log(pair.first))
    return difference
