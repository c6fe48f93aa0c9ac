"""A/A analysis: the same arm twice over many blocks. Is the procedure honest on this machine, and how
many runs does the machine's noise ask for?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from .blocks import Selection, log_differences, select
from .errors import AnalysisError
from .evidence import judge_paired
from .files import FORMAT, Json, finite
from .load import Run
from .pairing import cell_pairs
from .proof import same_binary
from .stats import intervals, power
from .stats.decide import Band
from .stats.intervals import percent

Array = NDArray[np.float64]
EFFECTS = (0.5, 1.0, 2.0, 5.0)
LEVEL = 0.01  # of each of the three checks; a healthy machine fails one of them 3 times in 100
LEAST_GROUPS = 5


@dataclass(frozen=True)
class Check:
    """One check of an A/A run; `state` is PASS, FAIL or OPEN (too few data)."""

    name: str
    state: str
    text: str
    p_value: float | None

    def to_json(self) -> Json:
        """As in calibration.json."""
        return {
            "name": self.name,
            "state": self.state,
            "text": self.text,
            "p_value": self.p_value,
        }


def group_p_values(differences: Array, size: int) -> Array:
    """p-values of "no difference" of consecutive groups of `size` blocks, each an A/A experiment of
    its own. Blocks that fill no group are left out."""
    groups = len(differences) // size
    if groups == 0:
        return np.empty(0)
    table_ = differences[: groups * size].reshape(groups, size)
    return intervals.p_two_sided(intervals.paired(table_))


def group_size(blocks: int) -> int:
    """Blocks per group: ten where that gives enough groups, else five."""
    return 10 if blocks >= 10 * LEAST_GROUPS else 5


def check_uniform(p_values: Array) -> Check:
    """Kolmogorov–Smirnov against the uniform distribution."""
    name = "p-values are uniform"
    if len(p_values) < LEAST_GROUPS:
        text = f"{len(p_values)} groups of blocks are too few, {LEAST_GROUPS} are needed"
        return Check(name, "OPEN", text, None)
    p_value = float(scipy_stats.kstest(p_values, "uniform").pvalue)
    text = f"Kolmogorov–Smirnov over {len(p_values)} groups of blocks, p = {p_value:.3f}"
    return Check(name, "PASS" if p_value >= LEVEL else "FAIL", text, p_value)


def check_zero(name: str, differences: Array) -> Check:
    """Whether the mean difference is 0, as it must be here."""
    if len(differences) < 2:
        return Check(name, "OPEN", "not enough blocks", None)
    estimate = intervals.paired(differences)
    p_value = float(intervals.p_two_sided(estimate))
    low, high = intervals.t_interval(estimate, LEVEL)
    text = (
        f"{percent(float(estimate.mean)):+.2f} % (99 % {percent(float(low)):+.2f} to "
        f"{percent(float(high)):+.2f} %, {len(differences)} blocks)"
    )
    return Check(name, "PASS" if p_value >= LEVEL else "FAIL", text, finite(p_value))


def slot_differences(selection: Selection, cell: str, metric: str, sign: int) -> Array:
    """Later run minus earlier run of each block, whatever the arm: what the place in the block does."""
    rows = selection.valid[selection.valid["cell"] == cell]
    if metric not in rows.columns:
        return np.empty(0)
    ranked = rows[rows[metric] > 0].copy()
    ranked["place"] = ranked.groupby("block")["slot"].rank(method="first")
    wide = ranked.pivot(index="block", columns="place", values=metric)
    if 1.0 not in wide.columns or 2.0 not in wide.columns:
        return np.empty(0)
    both = wide[[1.0, 2.0]].dropna().to_numpy(dtype=float)
    result: Array = sign * (np.log(both[:, 1]) - np.log(both[:, 0]))
    return result


def lag_one(selection: Selection, cell: str, metric: str) -> float | None:
    """Correlation of a run with the one before it, over the cell's valid runs in order: near 0 is
    white noise, near 1 is drift. None for fewer than eight runs or without spread."""
    rows = selection.valid[selection.valid["cell"] == cell].sort_values(["block", "slot"])
    if metric not in rows.columns:
        return None
    logs = np.log(rows[rows[metric] > 0][metric].to_numpy(dtype=float))
    if len(logs) < 8 or np.ptp(logs) == 0.0:
        return None
    return finite(float(np.corrcoef(logs[:-1], logs[1:])[0, 1]))


def _cell(run: Run, selection: Selection, name: str) -> tuple[Json, Array, Array]:
    plan = run.plan
    pair = cell_pairs(run, selection, name, plan.metric, plan.treatments[0].name)
    data = log_differences(pair, plan.sign)
    evidence = judge_paired(data, Band.of(plan.threshold_pct))
    run_sd = float(np.std(np.log(pair.first), ddof=1)) if len(data) > 1 else None
    content = {
        "cell": name,
        "blocks": len(data),
        "delta_pct": evidence.delta_pct,
        "ci95_pct": None if evidence.ci95_pct is None else list(evidence.ci95_pct),
        "sd_pct": evidence.sd_pct,
        "run_cv_pct": None if run_sd is None else 100.0 * run_sd,
        "lag_one_correlation": lag_one(selection, name, plan.metric),
        "p_values": group_p_values(data, group_size(len(data))).tolist(),
    }
    return content, data, slot_differences(selection, name, plan.metric, plan.sign)


def needed_blocks(sd: float) -> dict[str, int | None]:
    """Blocks to see each of EFFECTS (in %, 80 % power), and "neutral" to show NEUTRAL at ±1 %."""
    found: dict[str, int | None] = {
        f"{effect:g}": power.needed_for_difference(sd, float(np.log1p(effect / 100.0)))
        for effect in EFFECTS
    }
    found["neutral"] = power.needed_for_neutral(sd, Band.of(1.0).half_width)
    return found


def calibrate(run: Run) -> Json:
    """The content of calibration.json. AnalysisError where the arms differ or nothing is valid."""
    if not same_binary(run, run.plan.treatments[0]):
        raise AnalysisError(
            str(run.path), "its arms differ, so it is no A/A run", "use `hak calibrate`"
        )
    selection = select(run)
    cells, all_data, all_slots = [], [], []
    for cell in run.plan.cells:
        content, data, slots = _cell(run, selection, cell.name)
        cells.append(content)
        all_data.append(data)
        all_slots.append(slots)
    blocks = sum(len(data) for data in all_data)
    if blocks < 2:
        raise AnalysisError(str(run.path), f"has {blocks} valid blocks", "run more blocks")
    p_values = np.concatenate([np.array(cell["p_values"]) for cell in cells])
    checks = [
        check_uniform(p_values),
        check_zero("the arms do not differ", np.concatenate(all_data)),
        check_zero("the slot has no effect", np.concatenate(all_slots)),
    ]
    states = {check.state for check in checks}
    worst = max(_sd_of(data) for data in all_data)
    return {
        "format": FORMAT,
        "phase": run.plan.phase,
        "run": run.plan.run,
        "started": run.manifest.get("started"),
        "fingerprint": (run.manifest.get("machine") or {}).get("fingerprint"),
        "verdict": "FAIL" if "FAIL" in states else "OPEN" if "OPEN" in states else "PASS",
        "checks": [check.to_json() for check in checks],
        "blocks": blocks,
        "sd_pct": 100.0 * worst,
        "needed_blocks": needed_blocks(worst),
        "cells": cells,
    }


def _sd_of(data: Array) -> float:
    return float(np.std(data, ddof=1)) if len(data) > 1 else 0.0


def calibration_summary(content: Json) -> str:
    """A few lines for the terminal."""
    lines = [f"A/A {content['verdict']} over {content['blocks']} blocks"]
    lines += [f"  {c['state']}: {c['name']}: {c['text']}" for c in content["checks"]]
    lines.append(f"  sd of a block's difference: {content['sd_pct']:.2f} % (noisiest cell)")
    needed: dict[str, Any] = content["needed_blocks"]
    shown = [f"{name} %: {count}" for name, count in needed.items() if name != "neutral"]
    lines.append("  blocks to see a difference of " + ", ".join(shown))
    lines.append(f"  blocks to show NEUTRAL: {needed['neutral']}")
    return "\n".join(lines) + "\n"
