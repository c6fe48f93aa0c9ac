"""Layout as a random effect: the K layout means are the sample.

Blocks of one layout share whatever the linker did to them, so forty blocks of one layout are one
observation of the effect, not forty. Source: one-way random effects (Searle, Casella, McCulloch,
Variance Components, chapter 3); measurement.md section 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np
from numpy.typing import NDArray

from . import intervals, procedure
from .decide import Band, Word

Array = NDArray[np.float64]
LEAST_LAYOUTS = 8


@dataclass(frozen=True)
class LayoutEffect:
    """effect, low, high: log effect over layouts with its 95 % interval; layout_sd: standard
    deviation that layout alone adds (0 where noise explains the spread); block_sd: of blocks within
    a layout; share: part of the variance of one block that layout owns, 0 to 1."""

    word: Word
    layouts: int
    blocks: int
    effect: float
    low: float
    high: float
    layout_sd: float
    block_sd: float
    share: float

    @property
    def is_enough(self) -> bool:
        """Whether there are layouts enough for a promotion."""
        return self.layouts >= LEAST_LAYOUTS


def layout_effect(layouts: Sequence[Array], band: Band) -> LayoutEffect:
    """Takes the log differences of each layout: at least two layouts of at least two blocks."""
    if len(layouts) < 2 or min(len(blocks) for blocks in layouts) < 2:
        raise ValueError("a layout analysis takes at least 2 layouts of at least 2 blocks")
    means = np.array([blocks.mean() for blocks in layouts])
    sizes = np.array([len(blocks) for blocks in layouts], dtype=float)
    total = float(sizes.sum())
    within = sum(float(((b - b.mean()) ** 2).sum()) for b in layouts) / (total - len(layouts))
    grand = float((sizes * means).sum() / total)
    between = float((sizes * (means - grand) ** 2).sum()) / (len(layouts) - 1)
    size = (total - float((sizes**2).sum()) / total) / (len(layouts) - 1)
    layout_variance = max(0.0, (between - within) / size)
    whole = layout_variance + within
    outcome = procedure.paired(means, band)
    low, high = intervals.t_interval(outcome.estimate, 0.05)
    return LayoutEffect(
        word=Word(int(outcome.words)),
        layouts=len(layouts),
        blocks=int(total),
        effect=float(outcome.estimate.mean),
        low=float(low),
        high=float(high),
        layout_sd=float(np.sqrt(layout_variance)),
        block_sd=float(np.sqrt(within)),
        share=layout_variance / whole if whole > 0.0 else 0.0,
    )
