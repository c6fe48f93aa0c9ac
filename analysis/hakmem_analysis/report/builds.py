"""Arms that are builds of one source: how each was compiled and trained, and what it gains."""

from __future__ import annotations

from typing import Any

from ..files import Json
from ..load import Run
from ..units import signed, span
from ..verdict import Verdict

SHOWN_FLAGS = ("-O", "-march", "-flto", "-fprofile")


def builds(verdict: Verdict, run: Run) -> Json | None:
    """A row a build; None unless arms of ours differ in profile or compiler."""
    entries = [arm for arm in run.manifest.get("arms") or [] if arm.get("profile")]
    if len({(arm["profile"], arm.get("compiler")) for arm in entries}) < 2:
        return None
    primary = verdict.primary.cell.name
    gains = {
        item.treatment.name: item.evidence
        for item in verdict.comparisons
        if item.cell.name == primary
    }
    rows = []
    for arm in entries:
        name, evidence = str(arm.get("name")), gains.get(arm.get("name"))
        measured = evidence is not None and evidence.delta_pct is not None
        rows.append(
            [
                name,
                f"{arm['profile']}, {arm.get('compiler') or '?'}",
                f"`{_flags(str(arm.get('flags') or ''))}`",
                _training(arm),
                f"{signed(evidence.delta_pct)} %" if evidence and measured else "–",
                f"{span(evidence.ci95_pct)} %" if evidence and measured else "–",
                str(evidence.n) if evidence and measured else "–",
            ]
        )
    intro = (
        f"Gain over {run.plan.baseline.name} in the cell `{primary}`; the other cells are in the "
        "matrix. A build is no box: nothing is promoted, the gain is what the compiler could still "
        "give."
    )
    return {"intro": intro, "rows": rows}


def _flags(text: str) -> str:
    return " ".join(word for word in text.split() if word.startswith(SHOWN_FLAGS)) or "–"


def _training(arm: dict[str, Any]) -> str:
    training = arm.get("training")
    if not isinstance(training, dict):
        return "–"
    names = [str(entry.get("workload")) for entry in training.get("workloads") or []]
    return ", ".join(names) or "unknown"
