"""The evidence of one comparison: from values to the record that every label comes from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .files import Json, finite
from .stats import intervals, power, procedure, ranks
from .stats.decide import Band, Levels, Word
from .stats.intervals import percent
from .stats.sequential import pocock_levels

Array = NDArray[np.float64]
Range = tuple[float, float]


@dataclass(frozen=True)
class Evidence:
    """What the data say of one comparison. Percentages: positive is better. None: see `missing`.

    n: blocks (or runs of the smaller arm); sd_pct: standard deviation of one block's log difference
    in %; p_value: of "no difference", two-sided; level: two-sided level of the deciding interval
    (5 % but for sequential runs and Holm's correction); needed_*: blocks of a fresh run.
    """

    verdict: Word
    pairing: str
    n: int
    text: str
    delta_pct: float | None = None
    ci95_pct: Range | None = None
    ci90_pct: Range | None = None
    sd_pct: float | None = None
    p_value: float | None = None
    mde_pct: float | None = None
    needed_blocks: int | None = None
    needed_difference: int | None = None
    needed_neutral: int | None = None
    hl_pct: float | None = None
    hl_ci95_pct: Range | None = None
    hl_verdict: Word | None = None
    levels: Levels = Levels()
    decision_ci_pct: Range | None = None
    look: int | None = None
    before_correction: Word | None = None
    missing: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> Json:
        """As in verdict.json."""
        return {
            "verdict": self.verdict.text,
            "pairing": self.pairing,
            "n": self.n,
            "delta_pct": self.delta_pct,
            "ci95_pct": _list(self.ci95_pct),
            "ci90_pct": _list(self.ci90_pct),
            "sd_pct": self.sd_pct,
            "p_value": self.p_value,
            "needed_blocks": self.needed_blocks,
            "needed_blocks_difference": self.needed_difference,
            "needed_blocks_neutral": self.needed_neutral,
            "mde_pct": self.mde_pct,
            "hodges_lehmann_pct": self.hl_pct,
            "hl_ci95_pct": _list(self.hl_ci95_pct),
            "hl_verdict": self.hl_verdict.text if self.hl_verdict is not None else None,
            "level_two_sided": self.levels.two_sided,
            "level_one_sided": self.levels.one_sided,
            "decision_ci_pct": _list(self.decision_ci_pct),
            "look": self.look,
            "before_correction": (
                self.before_correction.text if self.before_correction is not None else None
            ),
            "text": self.text,
            "missing": self.missing,
        }


def _list(pair: Range | None) -> list[float] | None:
    return None if pair is None else list(pair)


def judge_paired(differences: Array, band: Band, levels: Levels = Levels()) -> Evidence:
    """From the log differences of the blocks, in block order."""
    n = len(differences)
    if n < 2:
        return _too_few("paired", n, percent(differences[0]) if n else None)
    return _evidence(procedure.paired(differences, band, levels), "paired", band, levels)


def judge_unpaired(treatment: Array, baseline: Array, band: Band) -> Evidence:
    """From signed logs of runs that belong to no blocks: Welch's interval."""
    n = min(len(treatment), len(baseline))
    if n < 2:
        has_both = len(treatment) > 0 and len(baseline) > 0
        delta = percent(treatment.mean() - baseline.mean()) if has_both else None
        return _too_few("unpaired", n, delta)
    return _evidence(procedure.unpaired(treatment, baseline, band), "unpaired", band, Levels())


def judge_sequential(differences: Array, band: Band, looks: tuple[int, ...]) -> Evidence:
    """From the blocks of a run with several looks: Pocock's levels at the look that decided, or at
    the last look in reach. Before the first look nothing is decided."""
    levels = pocock_levels(looks)
    stopped, _ = procedure.decided_look(differences, band, looks, levels)
    look = int(stopped)
    if look == 0:
        early = judge_paired(differences, band, levels)
        text = f"{len(differences)} of {looks[0]} blocks before the first look"
        return replace(early, verdict=Word.UNDECIDED, text=text)
    return replace(judge_paired(differences[:look], band, levels), look=look)


def _too_few(pairing: str, n: int, delta: float | None) -> Evidence:
    reason = f"not enough runs ({n}): an interval takes at least 2"
    names = ["ci95_pct", "ci90_pct", "sd_pct", "p_value", "mde_pct", "needed_blocks"]
    if delta is None:
        names.append("delta_pct")
    return Evidence(
        Word.UNDECIDED,
        pairing,
        n,
        "not enough runs",
        delta_pct=delta,
        missing={name: reason for name in [*names, "hodges_lehmann_pct", "hl_ci95_pct"]},
    )


def _evidence(outcome: procedure.Outcome, pairing: str, band: Band, levels: Levels) -> Evidence:
    estimate = outcome.estimate
    mean, sd = float(estimate.mean), float(estimate.sd)
    is_paired = pairing == "paired"
    alpha = levels.two_sided
    for_difference = power.needed_for_difference(sd, mean, alpha, is_paired)
    for_neutral = power.needed_for_neutral(sd, band.half_width, levels.one_sided, is_paired)
    is_outside = not band.low <= mean <= band.high
    missing = {}
    ordered_ci = ranks.order_interval(outcome.ordered, outcome.cut(0.05))
    if ordered_ci is None:
        missing["hl_ci95_pct"] = f"{estimate.n} runs are too few for a 95 % rank interval"
    if for_difference is None:
        missing["needed_blocks_difference"] = "no difference was seen, or over a million blocks"
    detectable = power.detectable_effect(sd, estimate.n, alpha, is_paired)
    if detectable is None:
        missing["mde_pct"] = f"{estimate.n} runs detect nothing with 80 % power at this level"
    word = Word(int(outcome.words))
    needed = for_difference if is_outside else for_neutral
    return Evidence(
        verdict=word,
        pairing=pairing,
        n=estimate.n,
        text=_text(outcome, band, is_outside, needed, levels),
        delta_pct=percent(mean),
        ci95_pct=_percent_range(intervals.t_interval(estimate, 0.05)),
        ci90_pct=_percent_range(intervals.t_interval(estimate, 0.10)),
        sd_pct=100.0 * sd,
        p_value=finite(float(intervals.p_two_sided(estimate))),
        mde_pct=None if detectable is None else percent(detectable),
        needed_blocks=needed if word is Word.UNDECIDED else None,
        needed_difference=for_difference,
        needed_neutral=for_neutral,
        hl_pct=percent(float(ranks.centre(outcome.ordered))),
        hl_ci95_pct=None if ordered_ci is None else _percent_range(ordered_ci),
        hl_verdict=Word(int(outcome.rank_words)),
        levels=levels,
        decision_ci_pct=_percent_range(intervals.t_interval(estimate, alpha)),
        missing=missing,
    )


def _percent_range(ends: tuple[Array, Array]) -> Range:
    return percent(float(ends[0])), percent(float(ends[1]))


def _text(
    outcome: procedure.Outcome, band: Band, is_outside: bool, needed: int | None, levels: Levels
) -> str:
    """One clause that says why the word is what it is, and what would settle it."""
    word, alone = Word(int(outcome.words)), Word(int(outcome.t_words))
    confidence = f"{100 * (1 - levels.two_sided):.3g} %"
    if word is Word.NEUTRAL:
        narrow = f"{100 * (1 - 2 * levels.one_sided):.3g} %"
        return f"the {narrow} interval lies inside the neutral band"
    if word is Word.STRONG_GO:
        return f"all of the {confidence} interval lies above the neutral band"
    if word is Word.GO:
        return f"the {confidence} interval lies above 0 and the estimate above the neutral band"
    if word is Word.NO_GO:
        return f"the {confidence} interval lies below 0 and the estimate below the neutral band"
    if alone is not Word.UNDECIDED:
        check = Word(int(outcome.rank_words)).text
        return f"the t interval says {alone.text}, the rank interval says {check}"
    low, high = intervals.t_interval(outcome.estimate, levels.two_sided)
    if low > 0.0 or high < 0.0:
        return ("better" if low > 0.0 else "worse") + ", size unresolved" + _fresh(needed, False)
    return f"the {confidence} interval holds both 0 and more than the band" + _fresh(
        needed, is_outside
    )


def _fresh(needed: int | None, is_difference: bool) -> str:
    if needed is None:
        return ""
    if is_difference:
        return f"; a fresh run of {needed} blocks would show an effect of this size (power 80 %)"
    return f"; a fresh run of {needed} blocks would show NEUTRAL if there is no effect (power 90 %)"
