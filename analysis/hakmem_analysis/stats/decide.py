"""From an interval to a word: the decision rule of measurement.md section 4."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int8]


class Word(IntEnum):
    """The evidence's words. NO_GO, NEUTRAL, GO and STRONG_GO are decided; UNDECIDED is not."""

    UNDECIDED = 0
    NEUTRAL = 1
    GO = 2
    STRONG_GO = 3
    NO_GO = 4
    INVALID = 5

    @property
    def is_go(self) -> bool:
        return self in (Word.GO, Word.STRONG_GO)

    @property
    def text(self) -> str:
        """As it stands in reports and files."""
        return "NO-GO" if self is Word.NO_GO else self.name.replace("_", " ")


def word_of(text: str) -> Word:
    """The word that prints as `text`; ValueError for another text."""
    for word in Word:
        if word.text == text:
            return word
    raise ValueError(f"'{text}' is no verdict")


@dataclass(frozen=True)
class Band:
    """The neutral band on the log scale: low = ln(1 − threshold), high = ln(1 + threshold)."""

    low: float
    high: float

    @staticmethod
    def of(threshold_pct: float) -> "Band":
        """The band of ±threshold_pct %, which must lie between 0 and 100."""
        if not 0.0 < threshold_pct < 100.0:
            raise ValueError(f"neutral threshold {threshold_pct} % is not between 0 and 100")
        return Band(float(np.log1p(-threshold_pct / 100.0)), float(np.log1p(threshold_pct / 100.0)))

    @property
    def half_width(self) -> float:
        """Distance from no effect to the nearer edge."""
        return min(-self.low, self.high)


@dataclass(frozen=True)
class Levels:
    """Error levels: `two_sided` of the interval that says GO or NO-GO, `one_sided` of each of the
    two tests that say NEUTRAL."""

    two_sided: float = 0.05
    one_sided: float = 0.05


def decide(
    centre: Array, wide: tuple[Array, Array], narrow: tuple[Array, Array], band: Band
) -> Codes:
    """The words (as Word codes) for estimates `centre` with the interval `wide` (95 %) and the
    interval `narrow` (90 %: two one-sided tests at 5 %). NEUTRAL goes first."""
    neutral = (narrow[0] > band.low) & (narrow[1] < band.high)
    better = (wide[0] > 0.0) & (centre > band.high)
    strong = wide[0] > band.high
    worse = (wide[1] < 0.0) & (centre < band.low)
    codes = np.select(
        [neutral, better & strong, better, worse],
        [Word.NEUTRAL, Word.STRONG_GO, Word.GO, Word.NO_GO],
        default=Word.UNDECIDED,
    )
    return codes.astype(np.int8)


def cross_check(word: Codes, check: Codes) -> Codes:
    """The t interval's `word` after the look at the rank interval's: another decided word makes it
    UNDECIDED, GO beside STRONG GO is GO, an undecided check changes nothing."""
    go_family = (word == Word.GO) | (word == Word.STRONG_GO)
    both_go = go_family & ((check == Word.GO) | (check == Word.STRONG_GO))
    agrees = (word == check) | (check == Word.UNDECIDED)
    codes = np.select(
        [agrees, both_go],
        [word, np.full_like(word, Word.GO)],
        default=Word.UNDECIDED,
    )
    return codes.astype(np.int8)
