"""Sweeps over libraries: ratios, figures to reach, failures that cost only their own cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hakmem_analysis.cli import main
from hakmem_analysis.errors import AnalysisError
from hakmem_analysis.load import load_run
from hakmem_analysis.sweep import Sweep, read_sweep
from synthetic import Fake, Json, make_run

CELLS = tuple(f"cell {i}" for i in range(6))
KNOWN = {"mimalloc": 100.0 / 1.2, "jemalloc": 100.0 / 1.1, "tcmalloc": 50.0}


def sweep_folder(folder: Path, **changes: Any) -> Path:
    """hakmem at 1.2 × mimalloc, 1.1 × jemalloc, 2 × tcmalloc; the baseline is glibc, at 1 ×."""
    fake = Fake(
        cells=CELLS,
        effects={"hakmem": 0.0},
        values={"baseline": "1", "hakmem": "1"},
        references=KNOWN,
        experiment={"report": "compare", "title": "a sweep", "min_seconds": 1.0},
    )
    for name, value in changes.items():
        setattr(fake, name, value)
    return make_run(folder, fake)


def sweep_of(folder: Path, **changes: Any) -> Sweep:
    return read_sweep(load_run(sweep_folder(folder, **changes)))


def arm(sweep: Sweep, name: str) -> Any:
    return next(one for one in sweep.others if one.name == name)


def states(sweep: Sweep) -> dict[str, str]:
    return {gate.name: gate.state for gate in sweep.gates()}


def test_geometric_means_find_the_true_ratios(tmp_path: Path) -> None:
    sweep = sweep_of(tmp_path / "run")
    for name, share in KNOWN.items():
        ratio, left_out = sweep.mean_ratio(arm(sweep, name))
        assert ratio is not None and ratio.low is not None and ratio.high is not None
        assert ratio.low < 100.0 / share < ratio.high
        assert ratio.high - ratio.low < 0.03 * ratio.value and ratio.n == 10
        assert not left_out


def test_one_great_cell_is_seen_in_the_mean(tmp_path: Path) -> None:
    def great(record: Json) -> Json:
        if record["arm"] == "hakmem" and record["cell"] == CELLS[3]:
            record["metrics"]["ops_per_s"] *= 100.0
        return record

    folder = sweep_folder(tmp_path / "run", change=great)
    sweep = read_sweep(load_run(folder))
    mimalloc = arm(sweep, "mimalloc")
    whole, _ = sweep.mean_ratio(mimalloc)
    assert whole is not None and whole.value > 2.0
    assert main(["report", str(folder)]) == 0
    assert f"× (without {CELLS[3]}) |" in (folder / "report.md").read_text()
    best = sweep.best_cell(mimalloc)
    assert best is not None
    rest, _ = sweep.mean_ratio(mimalloc, best[0])
    assert rest is not None and rest.value == pytest.approx(1.2, rel=0.02)


def test_figures_are_met_missed_or_open(tmp_path: Path) -> None:
    found = states(sweep_of(tmp_path / "run"))
    assert found["geometric mean at least 1.10 × mimalloc"] == "met"
    assert found["geometric mean above 1.00 × jemalloc"] == "met"
    assert found["geometric mean above 1.00 × glibc"] == "open"  # no arm of that name
    assert found["no cell below 0.97 × the best peer"] == "met"
    assert found["peak RSS never above 1.15 × the smallest peer's"] == "met"
    slow = states(sweep_of(tmp_path / "slow", references={**KNOWN, "mimalloc": 105.0}))
    assert slow["geometric mean at least 1.10 × mimalloc"] == "missed"
    assert slow["no cell below 0.97 × the best peer"] == "missed"


def test_memory_above_the_smallest_peer_is_counted(tmp_path: Path) -> None:
    def larger(record: Json) -> Json:
        if record["arm"] == "hakmem" and record["cell"] in CELLS[:2]:
            record["metrics"]["peak_rss_kib"] += 600
        return record

    found = states(sweep_of(tmp_path / "run", change=larger))
    assert found["peak RSS at most the smallest peer's + max(5 %, 512 KiB) in 5 of 6"] == "missed"
    assert found["peak RSS never above 1.15 × the smallest peer's"] == "missed"


def test_a_crash_in_one_cell_costs_that_cell_only(tmp_path: Path) -> None:
    def crash(record: Json) -> Json:
        if record["arm"] == "tcmalloc" and record["cell"] == CELLS[1]:
            record.update(status="crash", detail="killed by signal 11")
        return record

    folder = sweep_folder(tmp_path / "run", change=crash)
    sweep = read_sweep(load_run(folder))
    ratio, left_out = sweep.mean_ratio(arm(sweep, "tcmalloc"))
    assert ratio is not None and ratio.value == pytest.approx(2.0, rel=0.01)
    assert left_out == [CELLS[1]]
    assert sweep.mean_ratio(arm(sweep, "mimalloc"))[1] == []
    assert states(sweep)["geometric mean above 1.00 × tcmalloc"] == "open"
    assert main(["report", str(folder)]) == 0
    text = (folder / "report.md").read_text()
    assert "tcmalloc in cell 1: 10 of its runs ended in crash (killed by signal 11)" in text
    assert "failed" in text and "nan" not in text.lower()


def test_the_report_and_its_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sweep_folder(tmp_path / "run")
    assert main(["report", str(folder)]) == 0
    out = capsys.readouterr().out
    record = json.loads((folder / "compare.json").read_text())
    assert record["headline"] in out and "× mimalloc (95 %" in record["headline"]
    assert record["cells"][0]["ratios"]["mimalloc"]["n"] == 10
    assert record["geometric_means"]["jemalloc"]["ratio"] == pytest.approx(1.1, rel=0.01)
    for name in ("heat", "means", "trade"):
        assert (folder / "plots" / f"{name}.svg").read_text().startswith("<?xml")
        assert f"plots/{name}.svg" in (folder / "report.md").read_text()
    first = (folder / "report.md").read_text()
    main(["report", str(folder)])
    assert (folder / "report.md").read_text() == first


def test_timed_cells_give_latency_and_no_throughput(tmp_path: Path) -> None:
    def with_latency(record: Json) -> Json | None:
        if record["cell"] != "timed":
            return record
        times = {"p50": 10.0, "p99": 55.0 + record["block"], "p99_9": 80.0, "max": 90.0}
        times["samples"] = 1000
        slab = {"p50": 9.0, "p99": 9.0, "max": 90.0, "samples": 10, "total": 300.0}
        paths = {"slab": {**slab, "beyond_p99_9": 1}} if record["arm"] == "hakmem" else None
        record["record"] = {"latency_ns": {**times, "paths": paths}}
        return record if record["block"] < 2 else None

    cells = [
        {
            "cell": "plain",
            "workload": "random_mixed",
            "params": {"slots": 4},
            "primary": True,
        },
        {
            "cell": "timed",
            "workload": "random_mixed",
            "params": {"slots": 4, "latency": 1},
        },
    ]
    changes = {
        "cells": ("plain", "timed"),
        "manifest": {"cells": cells},
        "change": with_latency,
    }
    sweep = sweep_of(tmp_path / "run", **changes)
    assert [cell.name for cell in sweep.cells] == ["plain"]
    timed = sweep.timed(sweep.cells[0])
    assert timed is not None and sweep.median(timed, sweep.ours, "latency_ns.p99") == 55.5
    assert main(["report", str(tmp_path / "run")]) == 0
    text = (tmp_path / "run" / "report.md").read_text()
    assert "| plain | 2,000 | 100.00 % | 100.0 % | slab or run (100 %) | – |" in text


def test_an_interrupted_sweep_is_still_read(tmp_path: Path) -> None:
    def cut(record: Json) -> Json | None:
        return None if record["block"] > 0 or record["cell"] == CELLS[-1] else record

    folder = sweep_folder(tmp_path / "run", change=cut, status="interrupted")
    sweep = read_sweep(load_run(folder))
    ratio, left_out = sweep.mean_ratio(arm(sweep, "mimalloc"))
    assert ratio is not None and ratio.low is None
    assert left_out == [CELLS[-1]]
    assert set(states(sweep).values()) <= {"open", "missed", "met"}
    assert main(["report", str(folder)]) == 0
    assert "**interrupted**" in (folder / "report.md").read_text()


def test_a_cell_without_a_run_is_one_line_and_no_failure(tmp_path: Path) -> None:
    def without(record: Json) -> Json | None:
        return None if record["cell"] == CELLS[2] else record

    folder = sweep_folder(tmp_path / "run", change=without)
    sweep = read_sweep(load_run(folder))
    assert sweep.failures() == [f"no library in {CELLS[2]}: no valid run"]
    assert sweep.headline().startswith("hakmem, geometric mean of 5 of 6 cells: ")
    assert main(["report", str(folder)]) == 0
    text = (folder / "report.md").read_text()
    assert f"| {CELLS[2]} | – | – |" in text and "failed" not in text


def test_another_result_is_no_sweep(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="no sweep"):
        read_sweep(load_run(make_run(tmp_path / "run")))
