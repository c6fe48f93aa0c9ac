"""The procedure tested by simulation: error rates, coverage and power, with fixed seeds.

Every scenario runs the code that decides a real experiment (stats.procedure), the rank check
included. Bounds: measurement.md section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

import numpy as np
from numpy.typing import NDArray

from .stats import intervals, noise, power, procedure
from .stats.decide import Band, Word
from .stats.layout import layout_effect
from .stats.sequential import pocock_levels

Array = NDArray[np.float64]
BAND = Band.of(1.0)
CHUNK = 2000  # repetitions at a time: bounds the memory of the Walsh averages
SEED = 20261201


@dataclass(frozen=True)
class Scenario:
    """One simulated situation. sd: of one run, log scale; effect_pct: the truth; blocks: n, or the
    last look where `looks` is given."""

    noise: str
    blocks: int
    sd: float
    effect_pct: float
    looks: tuple[int, ...] = ()

    @property
    def effect(self) -> float:
        """The true log effect."""
        return math.log1p(self.effect_pct / 100.0)


@dataclass(frozen=True)
class Rates:
    """Shares of the repetitions, 0 to 1; coverage of the 95 % interval (None for looks)."""

    scenario: Scenario
    reps: int
    words: dict[Word, float]
    coverage: float | None

    @property
    def go(self) -> float:
        """GO and STRONG GO together."""
        return self.words[Word.GO] + self.words[Word.STRONG_GO]


def simulate(scenario: Scenario, reps: int, seed: int = SEED) -> Rates:
    """Runs `reps` experiments of one scenario."""
    generator = np.random.default_rng([seed, _number(scenario)])
    counts = np.zeros(len(Word), dtype=np.int64)
    covered = 0
    for start in range(0, reps, CHUNK):
        here = min(CHUNK, reps - start)
        data = noise.differences(
            scenario.noise, generator, here, scenario.blocks, scenario.sd, scenario.effect
        )
        if scenario.looks:
            levels = pocock_levels(scenario.looks)
            _, words = procedure.decided_look(data, BAND, scenario.looks, levels)
        else:
            words = procedure.paired(data, BAND).words
            low, high = intervals.t_interval(intervals.paired(data), 0.05)
            covered += int(((low <= scenario.effect) & (scenario.effect <= high)).sum())
        counts += np.bincount(words, minlength=len(Word))
    shares = {word: float(counts[word]) / reps for word in Word}
    return Rates(scenario, reps, shares, None if scenario.looks else covered / reps)


def _number(scenario: Scenario) -> int:
    """A stable number of the scenario, so that each has its own stream."""
    kind = noise.KINDS.index(scenario.noise)
    parts = (
        kind,
        scenario.blocks,
        round(scenario.sd * 1e6),
        round(scenario.effect_pct * 1e3) + 10**6,
    )
    number = len(scenario.looks)
    for part in parts:
        number = number * 1_000_003 + part
    return number


@dataclass(frozen=True)
class Check:
    """One asserted bound: `value` must lie between `low` and `high`."""

    name: str
    value: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the bound is kept."""
        return self.low <= self.value <= self.high


def upper(bound: float, reps: int) -> float:
    """A bound on an error rate plus three standard errors of `reps` repetitions."""
    return bound + 3.0 * math.sqrt(bound * (1.0 - bound) / reps)


def checks_of(rates: Rates) -> list[Check]:
    """The bounds that apply to a scenario by its true effect."""
    s, reps = rates.scenario, rates.reps
    label = f"{s.noise}, n={s.blocks}, sd {100 * s.sd:g} %, effect {s.effect_pct:g} %"
    if s.looks:
        label += ", looks " + "/".join(str(look) for look in s.looks)
    checks = []
    if s.effect_pct == 0.0:
        checks.append(Check(f"false GO ({label})", rates.go, 0.0, upper(0.025, reps)))
        no_go = rates.words[Word.NO_GO]
        checks.append(Check(f"false NO-GO ({label})", no_go, 0.0, upper(0.025, reps)))
    if abs(s.effect_pct) == 1.0:
        neutral = rates.words[Word.NEUTRAL]
        checks.append(Check(f"false NEUTRAL ({label})", neutral, 0.0, upper(0.05, reps)))
    if rates.coverage is not None:
        checks.append(Check(f"coverage ({label})", rates.coverage, 0.93, 0.97))
    return checks


def scenarios() -> list[Scenario]:
    """All situations whose error rates and coverage are bounded."""
    found = []
    for kind in noise.KINDS:
        for sd in (0.002, 0.005, 0.01, 0.02):
            for effect in (0.0, 1.0, -1.0):
                found.append(Scenario(kind, 10, sd, effect))
        found += [Scenario(kind, 40, 0.01, effect) for effect in (0.0, 1.0, -1.0)]
        found += [Scenario(kind, 80, 0.01, e, (10, 20, 40, 80)) for e in (0.0, 1.0, -1.0)]
    return found


def power_scenarios() -> list[tuple[Scenario, float]]:
    """Situations of the needed-blocks formulas, with the power that they promise (independent
    noise): effects well above the band, where the size condition of GO takes nothing away; and
    NEUTRAL at no effect."""
    sd = 0.01
    block_sd = sd * math.sqrt(2.0)
    found = []
    for effect in (3.0, 5.0, -3.0):
        blocks = power.needed_for_difference(block_sd, math.log1p(effect / 100.0)) or 2
        found.append((Scenario("independent", max(3, blocks), sd, effect), power.GO_POWER))
    blocks = power.needed_for_neutral(block_sd, BAND.half_width) or 2
    found.append((Scenario("independent", blocks, sd, 0.0), power.NEUTRAL_POWER))
    return found


def promised_share(rates: Rates) -> float:
    """The share whose size the power formula promises: NEUTRAL at no effect, else t intervals on the
    right side of 0."""
    s = rates.scenario
    if s.effect_pct == 0.0:
        return rates.words[Word.NEUTRAL]
    return rates.go if s.effect_pct > 0.0 else rates.words[Word.NO_GO]


def layout_false_go(layouts: int, blocks: int, reps: int, seed: int = SEED) -> float:
    """Share of false GO where layout has an sd of 1 % and a block's difference 1 %: `layouts`
    layouts of `blocks` blocks each. One layout is judged over its blocks, as if layout were not
    there; more are judged over layout means."""
    generator = np.random.default_rng([seed, layouts, blocks])
    shifts = generator.normal(0.0, 0.01, (reps, layouts, 1))
    data = shifts + generator.normal(0.0, 0.01, (reps, layouts, blocks))
    sample = data[:, 0, :] if layouts == 1 else data.mean(axis=2)
    words = procedure.paired(sample, BAND).words
    return float(np.isin(words, [Word.GO, Word.STRONG_GO]).mean())


def layout_share(reps: int, seed: int = SEED) -> float:
    """Mean estimated share of variance that layout owns where the truth is one half (8 × 20)."""
    generator = np.random.default_rng([seed, 8, 20])
    shares = []
    for _ in range(reps):
        shifts = generator.normal(0.0, 0.01, (8, 1))
        data = shifts + generator.normal(0.0, 0.01, (8, 20))
        shares.append(layout_effect(list(data), BAND).share)
    return float(np.mean(shares))


def run_selftest(reps: int, progress: Callable[[str], None]) -> tuple[str, bool]:
    """The whole table as Markdown, and whether every bound holds."""
    rates = []
    for scenario in scenarios():
        progress(f"{scenario.noise}, n={scenario.blocks}, effect {scenario.effect_pct:g} %")
        rates.append(simulate(scenario, reps))
    checks = [check for rate in rates for check in checks_of(rate)]
    lines = _rate_table(rates, reps)
    lines += ["", "## Power at the blocks that the formulas give", ""]
    lines += ["| True effect | Blocks | Promised | Found | Words |", "|---:|---:|---:|---:|---|"]
    for scenario, promised in power_scenarios():
        rate = simulate(scenario, reps)
        share = promised_share(rate)
        # Rounding n up and the rank check move the found power; far below the promise is a fault.
        checks.append(
            Check(f"power (effect {scenario.effect_pct:g} %)", share, promised - 0.08, 1.0)
        )
        word = (
            "NEUTRAL" if scenario.effect_pct == 0 else "GO" if scenario.effect_pct > 0 else "NO-GO"
        )
        lines.append(
            f"| {scenario.effect_pct:+g} % | {scenario.blocks} | {100 * promised:.0f} % "
            f"| {100 * share:.1f} % | {word} |"
        )
    lines += _layout_lines(reps)
    broken = [check for check in checks if not check.holds]
    lines += ["", "## Bounds", "", f"{len(checks) - len(broken)} of {len(checks)} hold.", ""]
    lines += [
        f"- broken: {check.name}: {check.value:.4f}, allowed {check.low:.4f} to {check.high:.4f}"
        for check in broken
    ]
    return "\n".join(lines).rstrip() + "\n", not broken


def _layout_lines(reps: int) -> list[str]:
    return [
        "",
        "## Layout (sd 1 % between layouts, 1 % between blocks, no effect)",
        "",
        f"- 1 layout × 40 blocks, judged by blocks: {100 * layout_false_go(1, 40, reps):.1f} % "
        "false GO",
        f"- 8 layouts × 5 blocks, judged by layout means: {100 * layout_false_go(8, 5, reps):.1f} % "
        "false GO",
        f"- share of the variance that layout owns, truly 50 %: found {100 * layout_share(400):.1f} % "
        "on average (8 layouts × 20 blocks)",
    ]


def _rate_table(rates: list[Rates], reps: int) -> list[str]:
    lines = [
        "# Selftest of the verdict",
        "",
        f"{reps:,} simulated experiments a row, fixed seeds; sd is of one run, the shares are in %.",
        "",
        "| Noise | Blocks | sd | True effect | GO | of it STRONG | NEUTRAL | NO-GO | UNDECIDED "
        "| Coverage |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for rate in rates:
        s = rate.scenario
        blocks = "/".join(str(look) for look in s.looks) or str(s.blocks)
        shares = [
            rate.go,
            *(rate.words[w] for w in (Word.STRONG_GO, Word.NEUTRAL, Word.NO_GO, Word.UNDECIDED)),
        ]
        cells = [f"{100 * share:.2f}" for share in shares]
        coverage = "–" if rate.coverage is None else f"{100 * rate.coverage:.2f}"
        lines.append(
            f"| {s.noise} | {blocks} | {100 * s.sd:g} % | {s.effect_pct:+g} % | "
            + " | ".join([*cells, coverage])
            + " |"
        )
    return lines
