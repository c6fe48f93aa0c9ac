"""One page of several results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hakmem_analysis.cli import main
from hakmem_analysis.errors import AnalysisError
from hakmem_analysis.report.family import family_text, read_family


def cell(size: int, arm: str, delta: float, half: float) -> dict[str, Any]:
    word = "GO" if delta - half > 0 else "NO-GO" if delta + half < 0 else "UNDECIDED"
    evidence = {"verdict": word, "delta_pct": delta, "ci95_pct": [delta - half, delta + half]}
    return {
        "cell": f"random_mixed size={size}",
        "treatment": arm,
        "role": "primary" if (size, arm) == (128, "tree") else "secondary",
        "evidence": {**evidence, "n": 10},
        "arms": {"arithmetic": {}, arm: {}},
    }


def result(folder: Path, phase: str, *cells: dict[str, Any]) -> Path:
    path = folder / phase / "20260102-030405"
    path.mkdir(parents=True)
    verdict = {"format": 1, "phase": phase, "run": path.name, "title": f"{phase} of free"}
    (path / "verdict.json").write_text(json.dumps({**verdict, "cells": list(cells)}))
    return path


def test_cells_of_all_results_stand_together(tmp_path: Path) -> None:
    first = result(tmp_path, "one", cell(128, "tree", -60.0, 2.0), cell(256, "tree", -55.0, 2.0))
    second = result(tmp_path, "two", cell(128, "mask", 0.5, 1.0), cell(256, "mask", 3.0, 1.0))
    members = read_family([first, second])
    assert [(m.cell[-3:], m.treatment) for m in members] == [
        ("128", "tree"),
        ("128", "mask"),
        ("256", "tree"),
        ("256", "mask"),
    ]
    text = family_text("How free learns the class", members)
    assert text.startswith("# How free learns the class\n\nSlower in every cell: tree (by")
    assert (
        "| random_mixed size=256 | mask | arithmetic | GO | +3.00 % | +2.00…+4.00 % | 10 |" in text
    )
    assert "From 2 results:" in text and "- two/20260102-030405: two of free" in text


def test_arms_with_other_baselines_are_told_apart(tmp_path: Path) -> None:
    other = cell(128, "table", 60.0, 2.0)
    other["arms"] = {"policy": {}, "table": {}}
    folders = [result(tmp_path, "one", cell(128, "c7", -50.0, 2.0)), result(tmp_path, "two", other)]
    text = family_text("Rings", read_family(folders))
    assert "Faster than its baseline in every cell: table (against policy);" in text
    assert "slower in every cell: c7 (against arithmetic) (by" in text
    assert "| random_mixed size=128 | table | policy | GO |" in text


def test_the_command_writes_page_and_plot(tmp_path: Path) -> None:
    folder = result(tmp_path, "one", cell(128, "mask", 3.0, 1.0), cell(256, "mask", 4.0, 1.0))
    out = tmp_path / "family"
    arguments = ["family", str(folder), "--title", "T", "--out", str(out)]
    assert main(arguments) == 0
    assert "Faster than arithmetic in every cell: mask" in (out / "README.md").read_text()
    plot = (out / "family.svg").read_bytes()
    assert plot.startswith(b"<?xml")
    assert main(arguments) == 0 and (out / "family.svg").read_bytes() == plot


def test_an_invalid_comparison_has_no_figures(tmp_path: Path) -> None:
    broken: dict[str, Any] = {"cell": "c", "treatment": "t", "role": "primary", "arms": {}}
    (member,) = read_family([result(tmp_path, "one", broken)])
    assert member.word == "INVALID" and member.delta_pct is None
    assert "| c | t | baseline | INVALID | – | – % | 0 |" in family_text("T", [member])


@pytest.mark.parametrize("content", ["", "[]", '{"format": 1, "cells": []}', '{"format": 99}'])
def test_damaged_results_are_refused(tmp_path: Path, content: str) -> None:
    folder = result(tmp_path, "one", cell(128, "mask", 1.0, 1.0))
    (folder / "verdict.json").write_text(content)
    with pytest.raises(AnalysisError):
        read_family([folder])
