"""DataFrames for notebooks (docs/guide/python.md). `Run.samples` is the one of all samples; these are
what the verdict is made of, in tidy form."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from .blocks import log_differences, select
from .history import read_history
from .load import Run
from .pairing import cell_pairs
from .verdict import Verdict


def pairs_frame(run: Run) -> pd.DataFrame:
    """A row a block (a process in slices mode) that counts, of every cell and treatment: cell,
    treatment, block, baseline and treatment_value in the plan's metric, and log_difference, of which
    positive is better whatever the metric's direction."""
    selection = select(run)
    parts = []
    for treatment in run.plan.treatments:
        for cell in run.plan.cells:
            pair = cell_pairs(run, selection, cell.name, run.plan.metric, treatment.name)
            parts.append(
                pd.DataFrame(
                    {
                        "cell": cell.name,
                        "treatment": treatment.name,
                        "block": pair.blocks,
                        "baseline": pair.first,
                        "treatment_value": pair.second,
                        "log_difference": log_differences(pair, run.plan.sign),
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def comparisons_frame(verdict: Verdict) -> pd.DataFrame:
    """A row a comparison, the primary first: cell, treatment, role, verdict, delta_pct with its 95 %
    interval (low_pct, high_pct), p_value, n, and reason where it is INVALID."""
    rows = []
    for item in verdict.comparisons:
        evidence = item.evidence
        low, high = evidence.ci95_pct or (None, None)
        rows.append(
            {
                "cell": item.cell.name,
                "treatment": item.treatment.name,
                "role": item.role,
                "verdict": item.word.text,
                "delta_pct": evidence.delta_pct,
                "low_pct": low,
                "high_pct": high,
                "p_value": evidence.p_value,
                "n": evidence.n,
                "reason": item.invalid_reasons[0] if item.invalid_reasons else "",
            }
        )
    return pd.DataFrame(rows)


def guards_frame(verdict: Verdict) -> pd.DataFrame:
    """A row a guard, with the keys that verdict.json has; ci95_pct as low_pct and high_pct."""
    rows = []
    for guard in verdict.guards:
        row = guard.to_json()
        low, high = row.pop("ci95_pct") or (None, None)
        rows.append({**row, "low_pct": low, "high_pct": high})
    return pd.DataFrame(rows)


def slices_frame(run: Run) -> pd.DataFrame:
    """A row a slice of a slices run: cell, block (the process), part ("slices" or "slices_aa"), index
    within it, arm, ops, seconds."""
    rows = []
    for cell, block, record in zip(
        run.samples["cell"], run.samples["block"], run.samples["record"]
    ):
        for part in ("slices", "slices_aa"):
            pieces = record.get(part) if isinstance(record, dict) else None
            rows += [
                {"cell": cell, "block": block, "part": part, "index": index, **piece}
                for index, piece in enumerate(pieces or [])
            ]
    return pd.DataFrame(rows, columns=["cell", "block", "part", "index", "arm", "ops", "seconds"])


def history_frame(results: str | Path) -> pd.DataFrame:
    """A row a result (or card) below `results`, oldest first. Warnings of damaged folders are
    dropped; `hak history` shows them."""
    entries, _ = read_history(Path(results))
    return pd.DataFrame([vars(entry) for entry in entries])
