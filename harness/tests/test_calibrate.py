"""`hak calibrate`: one long A/A run whose noise is kept, or many short ones. The analysis is a stand-in
that writes down what it is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import MISBEHAVE, Hak

ANALYSIS = """#!/bin/sh
shift 2
echo "$@" >>"$TMPDIR/asked"
case $1 in
report) printf '{"format": 1, "decision": "NEUTRAL", "headline": "fake"}' >"$2/verdict.json" ;;
calibrate-*) echo "said $1"; exit "${FAKE_CODE:-0}" ;;
esac
"""


@pytest.fixture(autouse=True)
def analysis(hak: Hak) -> None:
    Path(hak.env["HAK_PYTHON"]).write_text(ANALYSIS)


def asked(hak: Hak) -> list[str]:
    return (hak.folder / "asked").read_text().splitlines()


def test_the_noise_of_a_long_run_is_kept_beside_the_results(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "work", 20, runs=3)
    result = hak("calibrate", file, "--results", hak.results)
    assert result.code == 0, result.err
    kept = hak.results / "calibration.json"
    assert asked(hak)[-1] == f"calibrate-report {result.folder} --keep {kept}"
    assert "said calibrate-report" in result.out


def test_a_failed_check_is_exit_12(hak: Hak) -> None:
    file = hak.experiment("/bin/true", runs=1)
    assert hak("calibrate", file, "--results", hak.results, FAKE_CODE="12").code == 12


def short_runs(folder: Path) -> list[str]:
    manifests = sorted((folder / "runs").glob("*/*/manifest.json"))
    return [json.loads(path.read_text())["status"] for path in manifests]


def test_many_short_runs_are_each_a_result_and_can_be_completed(hak: Hak) -> None:
    file = hak.experiment("/bin/true", runs=2)
    result = hak("calibrate", file, "--times", 2, "--results", hak.results)
    assert result.code == 0, result.err
    folder = next((hak.results / "calibrate").iterdir())
    assert short_runs(folder) == ["complete"] * 2
    assert asked(hak) == [f"calibrate-times {folder}"]  # and no report of each
    more = hak("calibrate", file, "--times", 3, "--resume", folder, "--results", hak.results)
    assert more.code == 0, more.err
    assert short_runs(folder) == ["complete"] * 3
    broken = sorted((folder / "runs").glob("*/*"))[1]
    manifest = json.loads((broken / "manifest.json").read_text())
    (broken / "manifest.json").write_text(json.dumps({**manifest, "status": "interrupted"}))
    again = hak("calibrate", file, "--times", 3, "--resume", folder, "--results", hak.results)
    assert again.code == 0 and short_runs(folder) == ["complete"] * 3, again.err


def test_a_folder_without_short_runs_is_refused(hak: Hak) -> None:
    result = hak("calibrate", "--times", 3, "--resume", hak.folder)
    assert result.code == 2 and "no short A/A runs" in result.err


def test_a_card_of_a_retired_box_is_shown_before_a_run(hak: Hak) -> None:
    cards = hak.results / "cards"
    cards.mkdir(parents=True)
    card = {"format": 1, "box": "HAKMEM_REFILL_BATCH", "decision": "NO-GO", "reason": "it lost"}
    (cards / "x.json").write_text(json.dumps({**card, "removed": "2026-12-01"}))
    (cards / "y.json").write_text(json.dumps({**card, "box": "HAKMEM_OTHER", "reason": "no"}))
    (cards / "z.json").write_text("{")
    result = hak.run(hak.experiment(MISBEHAVE, "work", 30, runs=1, arms=hak.fake_arms()))
    assert "card of HAKMEM_REFILL_BATCH, retired 2026-12-01: NO-GO: it lost" in result.err
    assert "HAKMEM_OTHER" not in result.err
