"""Several claims at once: Holm's step-down levels, and the interval of a proportion."""

from __future__ import annotations

import math
from typing import Sequence

from scipy import special


def holm(p_values: Sequence[float], alpha: float) -> list[float | None]:
    """For each p-value the level at which Holm's procedure rejects it, or None where it does not.

    The smallest p is held against alpha/m, the next against alpha/(m − 1), …, and the first that is
    not below its level stops all that follow. Source: Holm 1979.
    """
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i])
    levels: list[float | None] = [None] * count
    for rank, index in enumerate(order):
        level = alpha / (count - rank)
        if not p_values[index] < level:
            break
        levels[index] = level
    return levels


def proportion_interval(hits: float, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a proportion, both ends between 0 and 1. `total` must be positive."""
    if total <= 0 or not 0 <= hits <= total:
        raise ValueError(f"{hits} of {total} is no proportion")
    z = float(special.ndtri(0.5 + confidence / 2.0))
    share = hits / total
    scale = 1.0 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    half = z * math.sqrt(share * (1.0 - share) / total + z * z / (4.0 * total * total)) / scale
    return max(0.0, centre - half), min(1.0, centre + half)
