"""The values of two arms of a cell that belong together: by block, or by process in slices mode."""

from __future__ import annotations

from . import slices
from .blocks import Pairs, Selection, pairs, table
from .load import Run


def planned(run: Run, pair: Pairs) -> Pairs:
    """`pair` without blocks beyond a fixed number of runs: looking again after adding blocks would
    be peeking. A run with several looks keeps all."""
    if run.plan.looks:
        return pair
    keep = pair.blocks < run.plan.runs
    return Pairs(pair.blocks[keep], pair.first[keep], pair.second[keep])


def cell_pairs(run: Run, selection: Selection, cell: str, metric: str, treatment: str) -> Pairs:
    """Baseline and treatment values of `metric` in `cell`. In slices mode only the plan's own metric
    can be told apart by arm; for others the pairs are empty."""
    if run.plan.mode == "slices":
        kind = "slices" if metric == run.plan.metric else "none"
        return slices.process_pairs(run, cell, kind, treatment)
    values = table(selection, cell, metric)
    return planned(run, pairs(values, run.plan.baseline.name, treatment))
