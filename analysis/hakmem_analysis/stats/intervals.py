"""Means of log differences with Student's t: paired by block, or Welch's form for unpaired data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """An estimated difference of logs, positive is better. Every field broadcasts: a simulation has
    one element per repetition, an experiment has none.

    mean: the estimate; se: its standard error; df: degrees of freedom; n: blocks (or runs of the
    smaller arm); sd: standard deviation of one block's difference, so that se = sd/√n.
    """

    mean: Array
    se: Array
    df: Array
    sd: Array
    n: int


def paired(differences: Array) -> Estimate:
    """From d_i of n ≥ 2 blocks on the last axis."""
    n = differences.shape[-1]
    mean = np.asarray(differences.mean(axis=-1))
    sd = np.asarray(differences.std(axis=-1, ddof=1))
    return Estimate(mean, sd / np.sqrt(n), np.full_like(mean, n - 1), sd, n)


def unpaired(treatment: Array, baseline: Array) -> Estimate:
    """From logs of two independent samples of at least two runs each (Welch 1947); `treatment` and
    `baseline` already carry the sign of the direction."""
    n_t, n_b = treatment.shape[-1], baseline.shape[-1]
    v_t = np.asarray(treatment.var(axis=-1, ddof=1)) / n_t
    v_b = np.asarray(baseline.var(axis=-1, ddof=1)) / n_b
    se = np.sqrt(v_t + v_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = (v_t + v_b) ** 2 / (v_t**2 / (n_t - 1) + v_b**2 / (n_b - 1))
    df = np.where(np.isfinite(df), df, n_t + n_b - 2)
    mean = np.asarray(treatment.mean(axis=-1) - baseline.mean(axis=-1))
    n = min(n_t, n_b)
    return Estimate(mean, se, df, se * np.sqrt(n), n)


def t_interval(estimate: Estimate, alpha: float) -> tuple[Array, Array]:
    """Two-sided interval of confidence 1 − alpha."""
    half = special.stdtrit(estimate.df, 1.0 - alpha / 2.0) * estimate.se
    return estimate.mean - half, estimate.mean + half


def t_statistic(estimate: Estimate, null: float = 0.0) -> Array:
    """(mean − null)/se; with se = 0 it is 0 where the mean is at the null and ±infinity elsewhere."""
    distance = estimate.mean - null
    safe = np.where(estimate.se > 0.0, estimate.se, 1.0)
    degenerate = np.where(distance == 0.0, 0.0, np.copysign(np.inf, distance))
    return np.asarray(np.where(estimate.se > 0.0, distance / safe, degenerate))


def p_two_sided(estimate: Estimate, null: float = 0.0) -> Array:
    """p-value of "the true difference is `null`"."""
    return np.asarray(2.0 * special.stdtr(estimate.df, -np.abs(t_statistic(estimate, null))))


def p_below(estimate: Estimate, null: float) -> Array:
    """One-sided p-value of "the true difference is at least `null`" (small: it lies below)."""
    return np.asarray(special.stdtr(estimate.df, t_statistic(estimate, null)))


def percent(log_difference: float) -> float:
    """exp(d) − 1 in %. Two runs can give an interval without end in practice; beyond e^±300 it is
    cut, so that every figure in a file is finite."""
    return 100.0 * float(np.expm1(min(max(log_difference, -300.0), 300.0)))
