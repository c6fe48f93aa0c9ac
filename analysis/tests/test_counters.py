"""Counters per operation, from samples to the report's table."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from hakmem_analysis.counters import counter_table, counters_per_op


def samples(*rows: dict[str, Any]) -> pd.DataFrame:
    base = {"arm": "a", "record": {"ops": 1000}, "missing": {}, "counter_shares": None}
    return pd.DataFrame([{**base, **row} for row in rows])


def test_per_operation_is_the_mean_of_the_runs() -> None:
    data = samples({"instructions": 20000.0}, {"instructions": 30000.0, "record": {"ops": 2000}})
    (found,) = counters_per_op(data, ["a"])
    assert found.value == pytest.approx((20 + 15) / 2) and found.least_share == 1.0
    assert found.samples == 2


def test_what_was_refused_has_the_reason_and_no_zero() -> None:
    data = samples({"cycles": float("nan"), "missing": {"cycles": "perf_event_open: no"}})
    (found,) = counters_per_op(data, ["a"])
    assert found.value is None and found.reason == "perf_event_open: no"


def test_a_program_without_operations_has_no_figure_per_op() -> None:
    (found,) = counters_per_op(samples({"cycles": 10.0, "record": None}), ["a"])
    assert found.value is None and "no operations" in found.reason


def test_the_table() -> None:
    rows = [
        {"instructions": 20000.0, "cycles": float("nan"), "missing": {"cycles": "no"}},
        {"arm": "b", "instructions": 25000.0, "cycles": float("nan"), "missing": {"cycles": "no"}},
    ]
    rows[1]["counter_shares"] = {"instructions": 0.5}
    table = counter_table(samples(*rows), ("a", "b"))
    assert table is not None
    assert table["rows"] == [["instructions", "20.0000", "25.0000", "+25.00 %", "50 %, scaled"]]
    assert table["missing"] == ["Not counted (no): cycles."]


def test_samples_without_counters_have_no_table() -> None:
    assert counter_table(samples({}), ("a", "b")) is None
