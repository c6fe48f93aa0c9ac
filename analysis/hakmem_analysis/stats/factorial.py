"""Two boxes, each off and on: effect of each alone, of both, and their interaction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .intervals import Estimate, p_two_sided, paired, t_interval

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Effect:
    """A log effect with its 95 % interval and p-value of "none"."""

    name: str
    mean: float
    low: float
    high: float
    p_value: float


def two_by_two(off_off: Array, on_off: Array, off_on: Array, on_on: Array) -> list[Effect]:
    """Takes the signed logs of the same n ≥ 2 blocks: neither box, the first, the second, both.

    Gives the effects of first alone, second alone, both, and the interaction: what both together do
    beyond the sum of each alone. Every effect is a difference within blocks, so drift cancels.
    """
    contrasts = {
        "first": on_off - off_off,
        "second": off_on - off_off,
        "both": on_on - off_off,
        "interaction": on_on - on_off - off_on + off_off,
    }
    return [_effect(name, paired(values)) for name, values in contrasts.items()]


def _effect(name: str, estimate: Estimate) -> Effect:
    low, high = t_interval(estimate, 0.05)
    p_value = float(p_two_sided(estimate))
    return Effect(name, float(estimate.mean), float(low), float(high), p_value)
