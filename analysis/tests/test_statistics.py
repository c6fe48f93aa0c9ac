"""The numbers: against the record, against scipy, against tables."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

from hakmem_analysis.evidence import judge_paired, judge_sequential, judge_unpaired
from hakmem_analysis.rawdata import judge_raw, load_raw
from hakmem_analysis.stats import intervals, noise, power, procedure, ranks
from hakmem_analysis.stats.decide import Band, Levels, Word, cross_check
from hakmem_analysis.stats.describe import apply_rule, arm_stats
from hakmem_analysis.stats.factorial import two_by_two
from hakmem_analysis.stats.layout import layout_effect
from hakmem_analysis.stats.multiple import holm, proportion_interval
from hakmem_analysis.stats.sequential import crossing_probability, pocock_levels

DATA = Path(__file__).parent / "data" / "phase62a.json"
BAND = Band.of(1.0)


def test_phase_62a_replay():
    verdict, evidence = judge_raw(load_raw(DATA))
    item = verdict.primary
    base, test = item.baseline_stats, item.treatment_stats
    shown = [f"{x:.3f}" for s in (base, test) for x in (s.mean, s.median, s.sd)]
    assert shown == ["59.300", "59.561", "1.173", "58.879", "58.935", "1.079"]
    assert [f"{s.cv_pct:.2f}" for s in (base, test)] == ["1.98", "1.83"]
    rule = item.rule
    assert (f"{rule.mean_delta_pct:.2f}", f"{rule.median_delta_pct:.2f}") == ("-0.71", "-1.05")
    assert rule.verdict == "NEUTRAL"
    assert evidence.verdict is Word.UNDECIDED and evidence.pairing == "unpaired"
    assert [f"{x:.2f}" for x in evidence.ci95_pct] == ["-2.50", "1.12"]


def test_paired_interval_is_students():
    data = np.random.default_rng(1).normal(0.01, 0.02, 12)
    low, high = intervals.t_interval(intervals.paired(data), 0.05)
    expected = scipy_stats.t.interval(0.95, 11, data.mean(), scipy_stats.sem(data))
    assert (low, high) == pytest.approx(expected)
    p_value = scipy_stats.ttest_1samp(data, 0.0).pvalue
    assert intervals.p_two_sided(intervals.paired(data)) == pytest.approx(p_value)


def test_unpaired_interval_is_welchs():
    generator = np.random.default_rng(2)
    first, second = generator.normal(0, 1, 9), generator.normal(0.3, 2, 14)
    expected = scipy_stats.ttest_ind(first, second, equal_var=False)
    found = intervals.unpaired(first, second)
    assert intervals.p_two_sided(found) == pytest.approx(expected.pvalue)


def test_signed_rank_cuts_are_those_of_the_tables():
    # Critical values of the signed-rank statistic, two-sided 5 %: 0, 2, 3, 5, 8, 52 (one less than k).
    cuts = {6: 1, 7: 3, 8: 4, 9: 6, 10: 9, 20: 53}
    assert {n: ranks.signed_rank_cut(n, 0.05) for n in cuts} == cuts
    assert ranks.signed_rank_cut(5, 0.05) == 0
    assert ranks.signed_rank_cut(5, 0.10) == 1
    exact, normal = ranks.signed_rank_cut(60, 0.05), ranks.signed_rank_cut(61, 0.05)
    assert 0 < normal - exact < 40


def test_mann_whitney_cuts_are_those_of_the_tables():
    assert ranks.mann_whitney_cut(10, 10, 0.05) == 24  # U = 23 is critical
    assert ranks.mann_whitney_cut(5, 8, 0.05) == ranks.mann_whitney_cut(8, 5, 0.05) == 7
    assert ranks.mann_whitney_cut(3, 3, 0.05) == 0


def test_hodges_lehmann_is_the_median_of_walsh_averages():
    data = np.array([1.0, 4.0, 10.0])
    assert list(ranks.walsh_averages(data)) == [1.0, 2.5, 4.0, 5.5, 7.0, 10.0]
    assert ranks.centre(ranks.walsh_averages(data)) == 4.75
    assert list(ranks.pairwise_differences(data, np.array([0.0, 1.0]))) == [0, 1, 3, 4, 9, 10]


def blocks(mean_pct: float, sd_pct: float, n: int = 10) -> np.ndarray:
    """Differences with exactly this mean and sample sd."""
    shape = scipy_stats.norm.ppf((np.arange(n) + 0.5) / n)
    shape = (shape - shape.mean()) / shape.std(ddof=1)
    return math.log1p(mean_pct / 100.0) + sd_pct / 100.0 * shape


@pytest.mark.parametrize(
    "mean, sd, word",
    [
        (0.0, 0.5, Word.NEUTRAL),
        (0.5, 0.1, Word.NEUTRAL),  # better beyond doubt, and too little: NEUTRAL goes first
        (3.0, 0.8, Word.STRONG_GO),
        (1.5, 1.0, Word.GO),
        (-1.5, 1.0, Word.NO_GO),
        (-5.0, 1.0, Word.NO_GO),
        (0.9, 0.9, Word.UNDECIDED),  # better, size unresolved
        (0.0, 3.0, Word.UNDECIDED),
        (2.0, 5.0, Word.UNDECIDED),
    ],
)
def test_words(mean, sd, word):
    assert judge_paired(blocks(mean, sd), BAND).verdict is word


def test_text_of_undecided_names_blocks():
    better = judge_paired(blocks(0.9, 0.9), BAND)
    assert better.text.startswith("better, size unresolved")
    noisy = judge_paired(blocks(2.0, 5.0), BAND)
    assert noisy.needed_blocks == noisy.needed_difference
    assert f"a fresh run of {noisy.needed_blocks} blocks" in noisy.text


@pytest.mark.parametrize("judge", [judge_paired, None])
def test_single_run_has_no_interval(judge):
    one = np.array([0.05])
    found = judge_paired(one, BAND) if judge else judge_unpaired(one, np.zeros(1), BAND)
    assert found.verdict is Word.UNDECIDED and found.text == "not enough runs"
    assert found.ci95_pct is None and found.sd_pct is None and found.mde_pct is None
    assert "not enough runs (1)" in found.missing["ci95_pct"]
    assert found.delta_pct == pytest.approx(100 * math.expm1(0.05))


def test_all_equal_is_neutral_without_nan():
    for found in (judge_paired(np.zeros(10), BAND), judge_unpaired(np.ones(5), np.ones(7), BAND)):
        assert found.verdict is Word.NEUTRAL
        assert found.delta_pct == 0.0 and found.ci95_pct == (0.0, 0.0)
        assert found.p_value == 1.0 and found.mde_pct == 0.0
        json.dumps(found.to_json(), allow_nan=False)


def test_different_constants_are_a_difference():
    for change, word in ((0.05, Word.STRONG_GO), (-0.05, Word.NO_GO), (0.001, Word.NEUTRAL)):
        paired = judge_paired(
            np.log(np.full(10, 3.0 * (1 + change))) - np.log(np.full(10, 3.0)), BAND
        )
        unpaired = judge_unpaired(np.full(10, np.log1p(change)), np.zeros(10), BAND)
        for found in (paired, unpaired):
            assert found.verdict is word
            json.dumps(found.to_json(), allow_nan=False)
        assert paired.delta_pct == pytest.approx(100 * change)


def test_two_wild_runs_stay_finite():
    found = judge_paired(np.array([-20.0, 25.0]), BAND)
    assert found.verdict is Word.UNDECIDED
    json.dumps(found.to_json(), allow_nan=False)


def test_another_decided_word_of_the_ranks_makes_undecided():
    codes = np.arange(6, dtype=np.int8)
    table = {(w, c): Word(int(cross_check(codes[w], codes[c]))) for w in range(5) for c in range(5)}
    assert table[Word.GO, Word.NEUTRAL] is Word.UNDECIDED
    assert table[Word.GO, Word.NO_GO] is Word.UNDECIDED
    assert table[Word.NEUTRAL, Word.GO] is Word.UNDECIDED
    assert table[Word.STRONG_GO, Word.GO] is Word.GO
    assert table[Word.GO, Word.STRONG_GO] is Word.GO
    assert table[Word.NO_GO, Word.UNDECIDED] is Word.NO_GO
    assert table[Word.UNDECIDED, Word.GO] is Word.UNDECIDED


def test_three_outliers_that_make_a_go_are_caught():
    data = np.full(20, 0.002) + np.linspace(-0.0001, 0.0001, 20)
    data[:3] = 0.07
    outcome = procedure.paired(data, BAND)
    assert Word(int(outcome.t_words)) is Word.GO
    assert Word(int(outcome.rank_words)) is Word.NEUTRAL
    found = judge_paired(data, BAND)
    assert found.verdict is Word.UNDECIDED
    assert found.text == "the t interval says GO, the rank interval says NEUTRAL"


def test_needed_blocks_start_from_the_formulas():
    sd, effect = 0.03, 0.01
    normal = 7.85 * (sd / effect) ** 2
    found = power.needed_for_difference(sd, effect)
    assert normal < found <= normal + 4
    assert power.difference_power(found, effect / sd, 0.05, True) >= 0.80
    assert power.difference_power(found - 1, effect / sd, 0.05, True) < 0.80
    width = BAND.half_width
    found = power.needed_for_neutral(sd, width)
    assert 10.8 * (sd / width) ** 2 < found <= 10.8 * (sd / width) ** 2 + 4
    assert power.needed_for_difference(sd, 0.0) is None
    assert power.needed_for_difference(sd, 1e-9) is None
    assert power.needed_for_difference(0.0, 0.01) == 2
    assert power.needed_for_difference(1.0, 1e9) == 2


def test_detectable_effect_is_what_the_needed_blocks_promise():
    effect = power.detectable_effect(0.02, 25)
    assert power.needed_for_difference(0.02, effect * 1.0001) == 25
    assert power.detectable_effect(0.0, 10) == 0.0
    assert power.detectable_effect(0.02, 2, alpha=1e-6) is None


def test_pocock_levels():
    three, four = pocock_levels((10, 20, 40)), pocock_levels((10, 20, 40, 80))
    assert three.two_sided == pytest.approx(0.0207, abs=2e-4)
    assert three.one_sided == pytest.approx(0.0218, abs=2e-4)
    assert four.two_sided == pytest.approx(0.0160, abs=2e-4)
    assert four.one_sided == pytest.approx(0.0170, abs=2e-4)
    # Pocock's own table for equally spaced looks: 0.0294, 0.0221, 0.0158.
    for looks, level in (((1, 2), 0.0294), ((1, 2, 3), 0.0221), ((1, 2, 3, 4, 5), 0.0158)):
        assert pocock_levels(looks).two_sided == pytest.approx(level, abs=1e-4)
    assert pocock_levels((10,)).two_sided == pytest.approx(0.05, abs=1e-6)
    assert crossing_probability((10, 20), 9.0, True) == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(ValueError):
        pocock_levels((20, 10))


def test_sequential_stops_at_the_first_decided_look():
    data = np.concatenate([blocks(3.0, 1.0), blocks(-3.0, 1.0)])
    found = judge_sequential(data, BAND, (10, 20, 40))
    assert found.look == 10 and found.n == 10 and found.verdict is Word.STRONG_GO
    early = judge_sequential(blocks(3.0, 0.5, 7), BAND, (10, 20, 40))
    assert early.verdict is Word.UNDECIDED and early.look is None
    assert early.text == "7 of 10 blocks before the first look"
    # Pocock's levels are stricter than one look at 5 %.
    marginal = blocks(1.2, 1.55)
    assert judge_paired(marginal, BAND).verdict is Word.GO
    assert judge_sequential(marginal, BAND, (10, 20, 40)).verdict is Word.UNDECIDED


def test_holm():
    assert holm([0.01, 0.04, 0.03, 0.005], 0.05) == [0.05 / 3, None, None, 0.05 / 4]
    assert holm([0.02, 0.04], 0.05) == [0.025, 0.05]
    assert holm([], 0.05) == []


def test_proportion_interval_of_the_design():
    low, high = proportion_interval(0.0298 * 833, 833)
    assert (round(100 * low, 1), round(100 * high, 1)) == (2.0, 4.4)
    assert proportion_interval(0, 10)[0] == 0.0
    assert proportion_interval(10, 10)[1] == pytest.approx(1.0)
    with pytest.raises(ValueError):
        proportion_interval(1, 0)


def test_two_by_two_finds_the_interaction():
    generator = np.random.default_rng(3)
    drift = generator.normal(0, 0.05, 20)
    noisy = [drift + x + generator.normal(0, 0.001, 20) for x in (0.0, 0.02, 0.01, 0.05)]
    effects = {e.name: e for e in two_by_two(*noisy)}
    for name, truth in (("first", 0.02), ("second", 0.01), ("both", 0.05), ("interaction", 0.02)):
        assert effects[name].low < truth < effects[name].high
    assert effects["interaction"].p_value < 0.001


def test_layout_owns_its_share():
    generator = np.random.default_rng(4)
    spread = [m + generator.normal(0, 0.001, 10) for m in generator.normal(0.0, 0.02, 12)]
    found = layout_effect(spread, BAND)
    assert found.share > 0.95 and 0.012 < found.layout_sd < 0.03
    assert (
        found.word is Word.UNDECIDED
        and found.layouts == 12
        and found.blocks == 120
        and found.is_enough
    )
    still = layout_effect([generator.normal(0.0, 0.005, 10) for _ in range(12)], BAND)
    assert still.share < 0.3 and still.word is Word.NEUTRAL
    constant = layout_effect([np.zeros(3), np.zeros(3)], BAND)
    assert constant.share == 0.0 and constant.word is Word.NEUTRAL
    with pytest.raises(ValueError):
        layout_effect([np.zeros(5)], BAND)


def test_rule_and_direction():
    base, slow = arm_stats(np.array([10.0, 10.0])), arm_stats(np.array([11.0, 11.0]))
    assert apply_rule(base, slow, 1, 1.0).verdict == "GO"
    assert apply_rule(base, slow, -1, 1.0).verdict == "NO-GO"
    assert apply_rule(base, base, 1, 1.0).verdict == "NEUTRAL"
    assert arm_stats(np.array([5.0])).sd is None


def test_band_needs_a_width():
    for width in (0.0, -1.0, 100.0):
        with pytest.raises(ValueError):
            Band.of(width)


def test_drift_cancels_within_blocks():
    generator = np.random.default_rng(5)
    runs = noise.runs("drifting", generator, 400, 40, 0.01)
    data = noise.differences("drifting", generator, 400, 20, 0.01, 0.0)
    assert data.std() < 0.75 * math.sqrt(2.0) * runs.std()
    with pytest.raises(ValueError):
        noise.runs("pink", generator, 1, 2, 1.0)


def test_levels_reach_the_decision():
    marginal = blocks(1.2, 1.55)
    strict = judge_paired(marginal, BAND, Levels(0.01, 0.05))
    assert strict.verdict is Word.UNDECIDED
    assert strict.ci95_pct == judge_paired(marginal, BAND).ci95_pct
