"""Guard rails: metrics and cells that may not get worse. PASS, FAIL or OPEN; Holm over FAIL."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .blocks import Pairs, Selection, log_differences
from .evidence import Range
from .files import Json
from .load import Run
from .pairing import cell_pairs
from .plan import GuardSpec, sign_of
from .stats import intervals
from .stats.intervals import percent
from .stats.multiple import holm

ONE_SIDED = 0.025


@dataclass(frozen=True)
class Guard:
    """One guard. Changes are of the metric itself in % (not signed by direction); `worse_p` is the
    one-sided p-value of "not worse than the margin" (small: it is worse)."""

    cell: str
    metric: str
    direction: str
    margin_pct: float
    state: str
    n: int
    change_pct: float | None
    ci95_pct: Range | None
    worse_p: float | None
    reason: str

    def to_json(self) -> Json:
        """As in verdict.json."""
        return {
            "cell": self.cell,
            "metric": self.metric,
            "direction": self.direction,
            "margin_pct": self.margin_pct,
            "state": self.state,
            "n": self.n,
            "change_pct": self.change_pct,
            "ci95_pct": None if self.ci95_pct is None else list(self.ci95_pct),
            "reason": self.reason,
        }


def _unknown(cell: str, spec: GuardSpec, n: int, reason: str, state: str = "OPEN") -> Guard:
    return Guard(
        cell, spec.metric, spec.direction, spec.margin_pct, state, n, None, None, None, reason
    )


def judge_guard(cell: str, spec: GuardSpec, pair: Pairs) -> Guard:
    """One guard from the paired values of baseline and treatment. PASS where the 95 % interval lies
    within the margin; FAIL is given by hold_guards, over all guards together."""
    n = len(pair.first)
    if n < 2:
        return _unknown(cell, spec, n, "not enough runs with this metric")
    if np.array_equal(pair.first, pair.second):
        same = replace(_unknown(cell, spec, n, "the same value in every block", "PASS"))
        return replace(same, change_pct=0.0, ci95_pct=(0.0, 0.0))
    if np.any(pair.first <= 0.0) or np.any(pair.second <= 0.0):
        return _unknown(cell, spec, n, "some values are 0, so there is no ratio")
    sign = sign_of(spec.direction)
    estimate = intervals.paired(log_differences(pair, sign))
    low, high = intervals.t_interval(estimate, 2 * ONE_SIDED)
    margin = sign * float(np.log1p(-sign * spec.margin_pct / 100.0))
    raw = sorted((percent(sign * float(low)), percent(sign * float(high))))
    is_within = float(low) > margin
    return Guard(
        cell=cell,
        metric=spec.metric,
        direction=spec.direction,
        margin_pct=spec.margin_pct,
        state="PASS" if is_within else "OPEN",
        n=n,
        change_pct=percent(sign * float(estimate.mean)),
        ci95_pct=(raw[0], raw[1]),
        worse_p=float(intervals.p_below(estimate, margin)),
        reason="" if is_within else "the interval reaches beyond the margin",
    )


def hold_guards(guards: list[Guard]) -> list[Guard]:
    """Marks FAIL by Holm's procedure at 2.5 % one-sided over all guards that have a p-value. PASS
    needs no correction: GO takes the PASS of every guard (an intersection of tests)."""
    known = [i for i, guard in enumerate(guards) if guard.worse_p is not None]
    levels = holm([guards[i].worse_p or 0.0 for i in known], ONE_SIDED)
    held = list(guards)
    for index, level in zip(known, levels):
        if level is not None:
            held[index] = replace(
                guards[index], state="FAIL", reason="the interval lies beyond the margin"
            )
    return held


def guards_of(
    run: Run, selection: Selection, treatment: str, invalid: dict[str, str]
) -> list[Guard]:
    """All guards of one treatment: the listed metrics in every cell, and the main metric in every
    cell but the primary with the neutral threshold as margin. A cell in `invalid` leaves its guards
    OPEN."""
    plan = run.plan
    main = GuardSpec(plan.metric, plan.direction, plan.threshold_pct)
    guards = []
    for cell in plan.cells:
        specs = list(plan.guards) if cell.is_primary else [main, *plan.guards]
        for spec in specs:
            if cell.name in invalid:
                guards.append(_unknown(cell.name, spec, 0, f"INVALID: {invalid[cell.name]}"))
                continue
            pair = cell_pairs(run, selection, cell.name, spec.metric, treatment)
            guards.append(judge_guard(cell.name, spec, pair))
    return hold_guards(guards)
