"""mechanism.json: what callgrind counted is read right, and what is missing is null with a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evidence
import mechanism
from mechanism import ArmSeen
from registry import BUILD


def test_missing_figures_are_null_with_the_reason() -> None:
    arm = mechanism.figures(ArmSeen(None, "", {"problem": "valgrind is not ours"}))
    other = {name: 5 for name, _, _ in mechanism.quantities()}
    content = mechanism.mechanism(other, arm, "intro")
    assert content["format"] == 1 and len(content["rows"]) == len(other)
    for row in content["rows"]:
        assert row["baseline"] == 5 and row["treatment"] is None
        assert "not ours" in row["source"]


def result(folder: Path, box: str | None) -> Path:
    """A result folder of the lab against itself, as the harness leaves it."""
    lab = str(BUILD / "core/libhakmem-lab.so")
    arms = [
        {"name": role, "role": role, "path": lab, "env": {"HAKMEM_C7_ULTRA": value}}
        for role, value in (("baseline", "0"), ("treatment", "1"))
    ]
    cell = {"cell": "random_mixed", "workload": "random_mixed", "params": {}, "primary": True}
    cell["params"] = {"ops": 20000, "slots": 100}
    manifest = {"format": 1, "arms": arms, "cells": [cell], "experiment": {"box": box}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    samples = [
        {"arm": "baseline", "proof": {"report": {"variant": "baseline"}}},
        {"arm": "treatment", "proof": {"report": {"variant": "c7_ultra"}}},
    ]
    counts = {"baseline": {"per_malloc": 15.0}, "treatment": {"problem": "no valgrind"}}
    (folder / "counts.json").write_text(json.dumps({"format": 1, "arms": counts}))
    (folder / "samples.jsonl").write_text("".join(json.dumps(s) + "\n" for s in samples))
    return folder


def test_a_result_gets_both_files(tmp_path: Path) -> None:
    assert evidence.main(result(tmp_path, "HAKMEM_C7_ULTRA")) == 0
    rows = {
        row["quantity"]: row
        for row in json.loads((tmp_path / "mechanism.json").read_text())["rows"]
    }
    size = rows["code of malloc"]
    assert size["treatment"] > size["baseline"] > 0
    assert rows["shortest path of free"]["baseline"] > 0
    counted = rows["instructions of malloc"]
    assert (counted["baseline"], counted["treatment"]) == (15.0, None)
    assert counted["source"] == "callgrind; no valgrind"
    table = json.loads((tmp_path / "compliance.json").read_text())
    assert table["format"] == 1 and len(table["rows"]) == 4


def set_arms(folder: Path, baseline: dict[str, str], treatment: dict[str, str]) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for arm, env in zip(manifest["arms"], (baseline, treatment)):
        arm["env"] = env
    path.write_text(json.dumps(manifest))


def test_arms_that_set_boxes_are_checked_for_each(tmp_path: Path) -> None:
    result(tmp_path, None)
    ring = {"HAKMEM_INLINE_SLOTS_C4": "1"}
    set_arms(tmp_path, ring, {**ring, "HAKMEM_THP": "2", "HAKMEM_PREWARM": "4"})
    assert evidence.main(tmp_path) == 0
    rows = json.loads((tmp_path / "compliance.json").read_text())["rows"]
    of_boxes = [row["principle"].split("(")[1] for row in rows]
    assert of_boxes == ["HAKMEM_PREWARM)"] * 4 + ["HAKMEM_THP)"] * 4


def test_arms_of_no_box_have_no_compliance(tmp_path: Path) -> None:
    result(tmp_path, None)
    set_arms(tmp_path, {"HAKMEM_THP": "0"}, {"GLIBC_TUNABLES": ""})
    assert evidence.main(tmp_path) == 0
    assert (tmp_path / "mechanism.json").exists()
    assert not (tmp_path / "compliance.json").exists()


def test_a_folder_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evidence.main(tmp_path) == 4
    assert capsys.readouterr().err.count("\n") == 1
