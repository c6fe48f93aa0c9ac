"""Seeded noise for the simulations: what one run's log throughput does beyond its arm's speed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import signal

Array = NDArray[np.float64]
KINDS = ("independent", "drifting", "skewed")
PHI = 0.95


def runs(kind: str, generator: np.random.Generator, reps: int, count: int, sd: float) -> Array:
    """`count` consecutive runs of `reps` experiments, log scale, standard deviation about `sd`.

    independent: normal. drifting: AR(1) with φ = 0.95, four fifths of the variance, on top of normal
    noise. skewed: a run is slowed by an exponential amount, as by foreign load.
    """
    if kind == "independent":
        return generator.normal(0.0, sd, (reps, count))
    if kind == "skewed":
        return -generator.exponential(sd, (reps, count))
    if kind != "drifting":
        raise ValueError(f"noise '{kind}' is none of {', '.join(KINDS)}")
    pushes = generator.normal(0.0, sd * np.sqrt(0.8 * (1.0 - PHI**2)), (reps, count))
    pushes[:, 0] = generator.normal(0.0, sd * np.sqrt(0.8), reps)
    drift = signal.lfilter([1.0], [1.0, -PHI], pushes, axis=1)
    result: Array = drift + generator.normal(0.0, sd * np.sqrt(0.2), (reps, count))
    return result


def differences(
    kind: str, generator: np.random.Generator, reps: int, blocks: int, sd: float, effect: float
) -> Array:
    """d_i of `reps` experiments of `blocks` blocks: two consecutive runs a block in random order,
    the treatment faster by the log amount `effect`. Drift that two neighbours share cancels; what is
    left of it gets a random sign from the order."""
    series = runs(kind, generator, reps, 2 * blocks, sd).reshape(reps, blocks, 2)
    step = series[..., 1] - series[..., 0]
    sign = generator.integers(0, 2, step.shape) * 2 - 1
    result: Array = effect + sign * step
    return result
