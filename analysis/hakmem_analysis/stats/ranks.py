"""Hodges–Lehmann estimates with exact rank intervals: the check beside the t interval.

Paired: median and order statistics of the Walsh averages, signed-rank distribution. Unpaired:
median and order statistics of all pairwise differences, Mann–Whitney distribution.
Source: Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 3rd ed., sections 3.3 and 4.3.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
EXACT_UP_TO = 60  # runs per arm; beyond it the normal approximation is good to four digits


@lru_cache(maxsize=256)
def signed_rank_cut(n: int, alpha: float) -> int:
    """How many Walsh averages to leave out at each end for an interval of confidence ≥ 1 − alpha,
    plus one: the interval runs from the k-th smallest to the k-th largest. 0 where n is too small
    for that confidence."""
    total = n * (n + 1) // 2
    if n > EXACT_UP_TO:
        sd = np.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
        return max(0, int(np.floor(total / 2.0 + special.ndtri(alpha / 2.0) * sd)))
    probability = np.zeros(total + 1)
    probability[0] = 1.0
    for rank in range(1, n + 1):
        shifted = np.zeros_like(probability)
        shifted[rank:] = probability[:-rank]
        probability = 0.5 * (probability + shifted)
    return _count_below(probability, alpha / 2.0)


@lru_cache(maxsize=256)
def mann_whitney_cut(n_t: int, n_b: int, alpha: float) -> int:
    """As signed_rank_cut, for the n_t·n_b pairwise differences."""
    total = n_t * n_b
    if max(n_t, n_b) > EXACT_UP_TO:
        sd = np.sqrt(total * (n_t + n_b + 1) / 12.0)
        return max(0, int(np.floor(total / 2.0 + special.ndtri(alpha / 2.0) * sd)))
    # Gaussian binomial coefficient: product of (1 − x^(n_b+i)) / (1 − x^i), kept in whole numbers.
    counts = [1] + [0] * total
    for i in range(1, n_t + 1):
        for power in range(total, n_b + i - 1, -1):
            counts[power] -= counts[power - n_b - i]
        for power in range(i, total + 1):
            counts[power] += counts[power - i]
    ways = sum(counts)
    return _count_below(np.array([count / ways for count in counts]), alpha / 2.0)


def _count_below(probability: Array, tail: float) -> int:
    """Largest k with P(W ≤ k − 1) ≤ tail."""
    return int(np.searchsorted(np.cumsum(probability), tail * (1.0 + 1e-12), side="right"))


@lru_cache(maxsize=64)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    rows, columns = np.triu_indices(n)
    return rows, columns


def walsh_averages(differences: Array) -> Array:
    """All (d_i + d_j)/2 with i ≤ j, sorted, on the last axis."""
    rows, columns = _pairs(differences.shape[-1])
    averages: Array = 0.5 * (differences[..., rows] + differences[..., columns])
    averages.sort(axis=-1)
    return averages


def pairwise_differences(treatment: Array, baseline: Array) -> Array:
    """All t_i − b_j, sorted, on the last axis."""
    table = treatment[..., :, None] - baseline[..., None, :]
    flat: Array = table.reshape(*table.shape[:-2], -1)
    flat.sort(axis=-1)
    return flat


def order_interval(ordered: Array, cut: int) -> tuple[Array, Array] | None:
    """The cut-th smallest and the cut-th largest of `ordered`; None where cut is 0."""
    if cut < 1:
        return None
    return np.asarray(ordered[..., cut - 1]), np.asarray(ordered[..., -cut])


def centre(ordered: Array) -> Array:
    """The Hodges–Lehmann estimate: the median of `ordered`."""
    count = ordered.shape[-1]
    return np.asarray(0.5 * (ordered[..., (count - 1) // 2] + ordered[..., count // 2]))
