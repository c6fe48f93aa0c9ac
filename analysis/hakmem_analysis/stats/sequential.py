"""Levels for looking more than once: Pocock's constant boundary for looks at any block counts.

The sum of differences after n_k blocks is a random walk; the density of the walk that has not yet
crossed is carried from look to look by Gauss–Legendre integration.
Source: Armitage, McPherson, Rowe 1969; Pocock 1977; Jennison and Turnbull, Group Sequential Methods.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from .decide import Levels

Array = NDArray[np.float64]
DEFAULT_LOOKS = (10, 20, 40, 80)
_NODES = 160
_FAR = 8.0  # standard deviations beyond which a normal density is nothing


def _normal(x: Array, sd: float) -> Array:
    return np.asarray(np.exp(-0.5 * (x / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi)))


def crossing_probability(looks: tuple[int, ...], bound: float, is_two_sided: bool) -> float:
    """Chance, at no effect, that |Z| (or Z) exceeds `bound` at one of the looks."""
    nodes, weights = special.roots_legendre(_NODES)
    points = np.empty(0)
    carried = np.empty(0)
    before = 0
    for count in looks:
        sd = np.sqrt(count)
        high = bound * sd
        low = -high if is_two_sided else -_FAR * sd
        here = 0.5 * (high - low) * nodes + 0.5 * (high + low)
        if before == 0:
            density = _normal(here, float(sd))
        else:
            step = float(np.sqrt(count - before))
            density = _normal(here[:, None] - points[None, :], step) @ carried
        points, carried = here, density * weights * 0.5 * (high - low)
        before = count
    return 1.0 - float(carried.sum())


@lru_cache(maxsize=64)
def pocock_level(looks: tuple[int, ...], alpha: float, is_two_sided: bool) -> float:
    """The level to use at every look so that all looks together err with chance `alpha`. Takes at
    least one look, block counts rising."""
    if not looks or any(b <= a for a, b in zip((0, *looks), looks)):
        raise ValueError(f"looks {list(looks)} are not rising block counts")
    bound = optimize.brentq(
        lambda c: crossing_probability(looks, c, is_two_sided) - alpha, 0.5, 6.0, xtol=1e-9
    )
    tail = float(special.ndtr(-bound))
    return 2.0 * tail if is_two_sided else tail


def pocock_levels(looks: tuple[int, ...] = DEFAULT_LOOKS) -> Levels:
    """Both levels for `looks`: of the GO/NO-GO interval and of the two NEUTRAL tests."""
    return Levels(pocock_level(looks, 0.05, True), pocock_level(looks, 0.05, False))
