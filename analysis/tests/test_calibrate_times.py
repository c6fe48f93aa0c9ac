"""Many short A/A runs: how often the procedure calls a difference where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic import Fake, make_run

from hakmem_analysis.calibrate_times import check_decided
from hakmem_analysis.cli import main

AA = {"baseline": "16", "treatment": "16"}


def make_runs(folder: Path, count: int, effect: float = 0.0, **changes) -> Path:
    for number in range(count):
        fake = Fake(
            effects={"treatment": effect}, values=AA, references={}, seed=100 + number, **changes
        )
        fake.manifest = {"run": f"r{number:03}"}
        make_run(folder / "runs" / "aa" / f"r{number:03}", fake)
    return folder


def test_honest_runs_give_a_table_that_can_be_committed(capsys, tmp_path):
    folder = make_runs(tmp_path / "a", 20)
    assert main(["calibrate-times", str(folder)]) == 0
    content = json.loads((folder / "aa.json").read_text("utf-8"))
    assert sum(content["counts"].values()) == 20 == len(content["runs"])
    assert content["counts"]["GO"] + content["counts"]["NO-GO"] <= 2
    assert content["verdict"] == "PASS"
    text = (folder / "report.md").read_text("utf-8")
    assert "| GO |" in text and "| UNDECIDED |" in text and str(tmp_path) not in text
    assert text.count("\n| r0") == 20 and "nan" not in text.lower()
    assert "20 A/A runs: " in capsys.readouterr().out


def test_a_machine_that_favours_one_arm_fails(tmp_path):
    folder = make_runs(tmp_path / "a", 8, effect=3.0)
    assert main(["calibrate-times", str(folder)]) == 12
    content = json.loads((folder / "aa.json").read_text("utf-8"))
    assert content["counts"]["GO"] == 8 and content["verdict"] == "FAIL"


def test_a_run_that_was_broken_off_is_not_counted(tmp_path):
    folder = make_runs(tmp_path / "a", 3)
    fake = Fake(blocks=3, values=AA, references={}, status="interrupted")
    make_run(folder / "runs" / "aa" / "z", fake)
    assert main(["calibrate-times", str(folder)]) == 0
    assert len(json.loads((folder / "aa.json").read_text("utf-8"))["runs"]) == 3


@pytest.mark.parametrize("what", ["nothing", "no A/A"])
def test_other_folders_are_refused_by_name(capsys, tmp_path, what):
    if what == "no A/A":
        make_run(tmp_path / "runs" / "aa" / "r")
    assert main(["calibrate-times", str(tmp_path)]) == 4
    error = capsys.readouterr().err
    assert ("is no A/A run" if what == "no A/A" else "holds no complete run") in error


def test_the_bound_is_a_tenth():
    assert check_decided(10, 100).state == "PASS" and check_decided(11, 100).state == "FAIL"
    assert check_decided(0, 0).state == "OPEN"
