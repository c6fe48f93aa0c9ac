"""The whole procedure on numbers: estimate, both tests, rank check, word. Used for one experiment
and, with a leading axis of repetitions, by the simulations that test it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np
from numpy.typing import NDArray

from . import intervals, ranks
from .decide import Band, Codes, Levels, Word, cross_check, decide
from .intervals import Estimate

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """estimate: of the t procedure; ordered: the sorted averages (or differences) behind the rank
    interval; t_words and rank_words: what each says alone; words: what the evidence says."""

    estimate: Estimate
    ordered: Array
    cut: Callable[[float], int]
    t_words: Codes
    rank_words: Codes
    words: Codes


def paired(differences: Array, band: Band, levels: Levels = Levels()) -> Outcome:
    """From the log differences of n ≥ 2 blocks on the last axis."""
    n = differences.shape[-1]
    return _outcome(
        intervals.paired(differences),
        ranks.walsh_averages(differences),
        lambda alpha: ranks.signed_rank_cut(n, alpha),
        band,
        levels,
    )


def unpaired(treatment: Array, baseline: Array, band: Band, levels: Levels = Levels()) -> Outcome:
    """From signed logs of two independent samples of at least two runs each."""
    n_t, n_b = treatment.shape[-1], baseline.shape[-1]
    return _outcome(
        intervals.unpaired(treatment, baseline),
        ranks.pairwise_differences(treatment, baseline),
        lambda alpha: ranks.mann_whitney_cut(n_t, n_b, alpha),
        band,
        levels,
    )


def _outcome(
    estimate: Estimate,
    ordered: Array,
    cut: Callable[[float], int],
    band: Band,
    levels: Levels,
) -> Outcome:
    wide = intervals.t_interval(estimate, levels.two_sided)
    narrow = intervals.t_interval(estimate, 2.0 * levels.one_sided)
    t_words = decide(estimate.mean, wide, narrow, band)
    rank_words = decide(
        ranks.centre(ordered),
        _rank_interval(ordered, cut(levels.two_sided)),
        _rank_interval(ordered, cut(2.0 * levels.one_sided)),
        band,
    )
    return Outcome(estimate, ordered, cut, t_words, rank_words, cross_check(t_words, rank_words))


def _rank_interval(ordered: Array, cut: int) -> tuple[Array, Array]:
    """Everything where the runs are too few for the confidence, so that it decides nothing."""
    found = ranks.order_interval(ordered, cut)
    if found is not None:
        return found
    anything = np.full(ordered.shape[:-1], np.inf)
    return -anything, anything


def decided_look(
    differences: Array, band: Band, looks: tuple[int, ...], levels: Levels
) -> tuple[NDArray[np.int64], Codes]:
    """For each repetition the look (a block count) at which the procedure stopped, and its word.
    Looks beyond the data are not taken; with none in reach the look is 0 and the word UNDECIDED."""
    flat = differences.reshape(-1, differences.shape[-1])
    stopped = np.zeros(len(flat), dtype=np.int64)
    words = np.full(len(flat), Word.UNDECIDED, dtype=np.int8)
    for look in looks:
        if look > flat.shape[-1]:
            break
        is_open = words == Word.UNDECIDED
        if is_open.any():
            stopped[is_open] = look
            words[is_open] = paired(flat[is_open, :look], band, levels).words
    shape = differences.shape[:-1]
    return stopped.reshape(shape), words.reshape(shape)
