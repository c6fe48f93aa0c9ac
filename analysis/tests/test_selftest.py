"""The procedure's error rates, in a short simulation with bounds; `hak selftest` is the long one."""

from __future__ import annotations

import pytest

from hakmem_analysis import selftest
from hakmem_analysis.selftest import Scenario, checks_of, simulate
from hakmem_analysis.stats import noise
from hakmem_analysis.stats.decide import Word

REPS = 4000


@pytest.mark.parametrize("kind", noise.KINDS)
@pytest.mark.parametrize("sd", [0.005, 0.02])
@pytest.mark.parametrize("effect", [0.0, 1.0, -1.0])
def test_error_rates_and_coverage(kind, sd, effect):
    for check in checks_of(simulate(Scenario(kind, 10, sd, effect), REPS)):
        assert check.holds, check


@pytest.mark.parametrize("kind", noise.KINDS)
@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_error_rates_of_four_looks(kind, effect):
    scenario = Scenario(kind, 80, 0.015, effect, (10, 20, 40, 80))
    for check in checks_of(simulate(scenario, 1000)):
        assert check.holds, check


def test_power_is_what_the_formulas_promise():
    for scenario, promised in selftest.power_scenarios():
        share = selftest.promised_share(simulate(scenario, REPS))
        assert share >= promised - 0.08, (scenario, share)


def test_one_layout_lies_and_eight_do_not():
    assert selftest.layout_false_go(1, 40, REPS) > 0.10
    assert selftest.layout_false_go(8, 5, REPS) < 0.025
    assert selftest.layout_share(100) == pytest.approx(0.5, abs=0.06)


def test_same_seed_same_rates():
    scenario = Scenario("skewed", 10, 0.01, 0.0)
    first, second = simulate(scenario, 500), simulate(scenario, 500)
    assert first == second
    assert sum(first.words.values()) == pytest.approx(1.0)
    assert first.words[Word.INVALID] == 0.0


def test_table_is_written(monkeypatch):
    monkeypatch.setattr(selftest, "scenarios", lambda: [Scenario("independent", 10, 0.01, 0.0)])
    text, holds = selftest.run_selftest(500, lambda _: None)
    assert holds and "| independent | 10 | 1 % | +0 % |" in text
    assert "nan" not in text.lower()
