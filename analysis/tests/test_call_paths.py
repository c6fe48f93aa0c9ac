"""Timed calls by path: pooled over runs, in both reports, and never zeros where not measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from synthetic import Fake, make_run

from hakmem_analysis.call_paths import NOT_MEASURED, NOT_RECORDED, call_paths
from hakmem_analysis.cli import main
from hakmem_analysis.report.latency import owner_text, path_row

Json = dict[str, Any]


def path(samples: int, total: float, top: float, beyond: int) -> Json:
    return {
        "p50": total / samples,
        "p99": top,
        "max": top,
        "samples": samples,
        "total": total,
        "beyond_p99_9": beyond,
    }


def latency(shift: float = 0.0) -> Json:
    return {
        "p50": 10.0,
        "p99": 60.0 + shift,
        "p99_9": 900.0,
        "max": 50_000.0 + shift,
        "samples": 10_000,
        "paths": {
            "slab": path(100, 80_000.0, 5_000.0, 8),
            "fast": path(9_900, 99_000.0, 50_000.0 + shift, 2),
        },
        "slowest": [
            {"ns": 50_000.0 + shift, "call": "free", "size": 1024, "path": "fast"},
            {"ns": 5_000.0, "call": "malloc", "size": 64, "path": "slab"},
        ],
    }


def samples(*runs: Json | None) -> pd.DataFrame:
    return pd.DataFrame([{"record": {"latency_ns": run}} for run in runs])


def test_runs_are_pooled() -> None:
    found = call_paths(samples(latency(), latency(4.0), latency(2.0)))
    assert found is not None
    assert (found.runs, found.calls, found.p99_ns, found.max_ns) == (3, 30_000, 62.0, 50_004.0)
    assert [one.path for one in found.paths] == ["fast", "slab"]
    fast, slab = found.paths
    assert (slab.calls, slab.total_ns, slab.max_ns, slab.beyond) == (300, 240_000.0, 5_000.0, 24)
    assert fast.max_ns == 50_004.0 and found.beyond == 30
    assert [call["ns"] for call in found.slowest][:3] == [50_004.0, 50_002.0, 50_000.0]
    assert owner_text(found).startswith(
        "The calls beyond p99.9 belong first to **slab or run**: 24 of 30, 80.0 % (95 % "
    )
    assert path_row(found) == [
        "30,000",
        "1.00 %",
        "44.7 %",
        "slab or run (80 %)",
        "free of 1,024 bytes 50,004 ns, fast path (interrupt or page fault)",
    ]


def test_a_slow_fast_path_is_no_path_of_the_allocator() -> None:
    one = latency()
    one["paths"]["slab"]["beyond_p99_9"] = 0
    found = call_paths(samples(one))
    assert found is not None
    assert "**fast path (interrupt or page fault)**: 2 of 2, 100.0 %" in owner_text(found)


def test_nothing_beyond_has_no_owner() -> None:
    one = latency()
    for times in one["paths"].values():
        times["beyond_p99_9"] = 0
    found = call_paths(samples(one))
    assert found is not None and found.owner is None
    assert owner_text(found) == "No call lies beyond the bucket of p99.9."


def test_what_was_not_measured_says_so() -> None:
    unknown = {**latency(), "paths": None}
    found = call_paths(samples(unknown))
    assert found is not None and found.paths == () and found.missing == NOT_MEASURED
    older = {name: unknown[name] for name in ("p50", "p99", "p99_9", "max", "samples")}
    found = call_paths(samples(older))
    assert found is not None and found.missing == NOT_RECORDED and found.slowest == ()


def test_runs_without_timed_calls_have_no_section() -> None:
    assert call_paths(samples(None)) is None
    assert call_paths(pd.DataFrame([{"record": None}])) is None
    assert call_paths(samples({**latency(), "samples": 0})) is None


def test_the_report(tmp_path: Path) -> None:
    def timed(record: Json) -> Json:
        known = record["arm"] != "mimalloc"
        record["record"] = {"latency_ns": {**latency(), **({} if known else {"paths": None})}}
        return record

    folder = make_run(tmp_path / "run", Fake(blocks=3, change=timed))
    assert main(["report", str(folder)]) == 0
    text = (folder / "report.md").read_text("utf-8")
    section = text.split("\n## Latency\n")[1].split("\n## ")[0]
    assert "### Timed calls: random_mixed" in section
    assert "| baseline | 3 | 30,000 | 10.0 | 60.0 | 900 | 50,000 |" in section
    row = "| slab or run | 300 | 1.00 % | 44.69 % | 800 | 5,000 | 5,000 | 24 |"
    assert section.count(row) == 2
    assert section.count("**slab or run**: 24 of 30, 80.0 %") == 2
    assert f"**mimalloc**: paths {NOT_MEASURED}.\n" in section
    assert "Slowest: free of 1,024 bytes 50,000 ns, fast path (interrupt or page fault);" in section
    assert "\n\n\n" not in text


def test_a_report_without_timed_calls_has_no_section(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    assert main(["report", str(folder)]) == 0
    assert "## Latency" not in (folder / "report.md").read_text("utf-8")
