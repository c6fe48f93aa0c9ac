"""Mean, median, sample standard deviation and coefficient of variation of one arm; the ±1 % rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ArmStats:
    """Figures of one arm, in the metric's unit; `sd` and `cv_pct` are None for a single run."""

    n: int
    mean: float
    median: float
    sd: float | None
    cv_pct: float | None
    low: float
    high: float


def arm_stats(values: Array) -> ArmStats:
    """Takes at least one value. The sd divides by n − 1; the CV is in % of the mean, and None where
    the mean is 0."""
    mean = float(np.mean(values))
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    cv = None if sd is None or mean == 0.0 else 100.0 * sd / abs(mean)
    return ArmStats(
        len(values),
        mean,
        float(np.median(values)),
        sd,
        cv,
        float(values.min()),
        float(values.max()),
    )


@dataclass(frozen=True)
class Rule:
    """The ±threshold rule: its word and the two deltas in %, positive is better."""

    verdict: str
    mean_delta_pct: float
    median_delta_pct: float
    threshold_pct: float


def apply_rule(baseline: ArmStats, treatment: ArmStats, sign: int, threshold_pct: float) -> Rule:
    """The rule of measurement.md section 4: mean delta inside ±threshold is NEUTRAL, above it GO,
    below it NO-GO. `sign` is −1 where a lower value is better. Means must not be 0."""
    mean_delta = sign * 100.0 * (treatment.mean / baseline.mean - 1.0)
    median_delta = sign * 100.0 * (treatment.median / baseline.median - 1.0)
    if mean_delta > threshold_pct:
        verdict = "GO"
    elif mean_delta < -threshold_pct:
        verdict = "NO-GO"
    else:
        verdict = "NEUTRAL"
    return Rule(verdict, mean_delta, median_delta, threshold_pct)
