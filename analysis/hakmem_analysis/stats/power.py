"""How many blocks a fresh run needs, and what a run could have seen.

Start from the normal formulas of measurement.md section 4 (7.85·(s/δ)² and 10.8·(s/m)²), then
search the smallest n whose power by the noncentral t is enough.
"""

from __future__ import annotations

import math
from typing import Callable

from scipy import optimize, special

GO_POWER = 0.80
NEUTRAL_POWER = 0.90
MOST_BLOCKS = 1_000_000
MOST_NONCENTRAL = 1e5
NORMAL_FROM = 2000  # blocks from which t and normal agree to a block in a thousand


def _df(n: int, is_paired: bool) -> int:
    return n - 1 if is_paired else 2 * (n - 1)


def _noncentral_cdf(df: int, noncentrality: float, value: float) -> float:
    """The noncentral t distribution. The noncentrality is cut where the answer is 0 or the same to
    all digits that matter: scipy's function does not end for very large ones."""
    return float(special.nctdtr(df, min(noncentrality, MOST_NONCENTRAL), value))


def difference_power(n: int, effect_in_sd: float, alpha: float, is_paired: bool) -> float:
    """Chance that the two-sided interval of n blocks excludes 0 on the right side, where the true
    effect is `effect_in_sd` standard deviations of one difference."""
    df = _df(n, is_paired)
    critical = special.stdtrit(df, 1.0 - alpha / 2.0)
    return 1.0 - _noncentral_cdf(df, effect_in_sd * math.sqrt(n), critical)


def neutral_power(n: int, width_in_sd: float, alpha: float, is_paired: bool) -> float:
    """Chance that both one-sided tests of n blocks reject where there is no effect and the band's
    edge is `width_in_sd` standard deviations away (Schuirmann's bound: 2·power − 1)."""
    df = _df(n, is_paired)
    critical = special.stdtrit(df, 1.0 - alpha)
    one = 1.0 - _noncentral_cdf(df, width_in_sd * math.sqrt(n), critical)
    return max(0.0, 2.0 * one - 1.0)


def _smallest(power: Callable[[int], float], target: float, guess: float) -> int | None:
    """Smallest n ≥ 2 with power(n) ≥ target, near `guess`; None beyond MOST_BLOCKS."""
    if not guess < MOST_BLOCKS:
        return None
    n = max(2, math.ceil(guess))
    if n > NORMAL_FROM:
        return n
    while n > 2 and power(n - 1) >= target:
        n -= 1
    while power(n) < target:
        n += 1
        if n > 2 * guess + 1000:
            return None
    return n


def needed_for_difference(
    sd: float, effect: float, alpha: float = 0.05, is_paired: bool = True
) -> int | None:
    """Blocks for 80 % power to tell a true log effect from 0. None where `effect` is 0 or it would
    take more than a million. At least 2."""
    if effect == 0.0:
        return None
    if sd == 0.0:
        return 2
    ratio = abs(effect) / sd
    quantiles = float(special.ndtri(1.0 - alpha / 2.0) + special.ndtri(GO_POWER))
    return _smallest(
        lambda n: difference_power(n, ratio, alpha, is_paired), GO_POWER, (quantiles / ratio) ** 2
    )


def needed_for_neutral(
    sd: float, half_width: float, alpha: float = 0.05, is_paired: bool = True
) -> int | None:
    """Blocks for 90 % power to show NEUTRAL where there is no effect at all; None beyond a million."""
    if sd == 0.0:
        return 2
    ratio = half_width / sd
    quantiles = float(special.ndtri(1.0 - alpha) + special.ndtri((1.0 + NEUTRAL_POWER) / 2.0))
    return _smallest(
        lambda n: neutral_power(n, ratio, alpha, is_paired),
        NEUTRAL_POWER,
        (quantiles / ratio) ** 2,
    )


def detectable_effect(
    sd: float, n: int, alpha: float = 0.05, is_paired: bool = True
) -> float | None:
    """The minimum detectable effect: the true log effect that n ≥ 2 blocks tell from 0 with 80 %
    power; None where no effect of up to a thousand standard deviations would do."""
    if sd == 0.0:
        return 0.0

    def shortfall(ratio: float) -> float:
        return difference_power(n, ratio, alpha, is_paired) - GO_POWER

    start = (float(special.ndtri(1.0 - alpha / 2.0)) + 0.85) / math.sqrt(n)
    upper = 2.0 * start
    while shortfall(upper) < 0.0:
        upper *= 2.0
        if upper > 1000.0:
            return None
    return sd * float(optimize.brentq(shortfall, 1e-6, upper, xtol=1e-6))
