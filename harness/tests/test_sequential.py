"""`--until-decided`: looks declared before the first block, kept by a resume, never mixed with a fixed
number of blocks. The analysis is a stand-in that decides from a given block on."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from conftest import MISBEHAVE, Hak, Result

LOOKS = [2, 4, 6]

ANALYSIS = """#!/bin/sh
report() { printf '{"format": 1, "decision": "GO", "headline": "fake"}' > "$1/verdict.json"; }
case $3 in
report) report "$4" ;;
watch)
  while read -r verb folder; do
    case $verb in
    levels) echo '{"looks": [2, 4, 6], "level_two_sided": 0.02, "level_one_sided": 0.03}' ;;
    look)
      [ -z "$FAKE_DEAD" ] || exit 1
      count=$(grep -c '"arm":"baseline"' "$folder/samples.jsonl")
      if [ "$count" -ge "${FAKE_DECIDED:-99}" ]; then
        echo '{"stop": true, "decision": "GO"}'
      else
        echo '{"stop": false, "decision": "UNDECIDED"}'
      fi
      ;;
    *) echo '{"cells": {}}' ;;
    esac
  done
  ;;
esac
"""


@pytest.fixture(autouse=True)
def analysis(hak: Hak) -> None:
    Path(hak.env["HAK_PYTHON"]).write_text(ANALYSIS)


def experiment(hak: Hak, **changes: object) -> Path:
    """Without a number of runs, which goes with no looks."""
    file = hak.experiment(MISBEHAVE, "work", 30, looks=LOOKS, **changes)
    content = json.loads(file.read_text())
    del content["runs"]
    file.write_text(json.dumps(content))
    return file


def blocks(result: Result) -> int:
    return len({sample["block"] for sample in result.samples})


def test_it_stops_at_the_first_look_that_decides(hak: Hak) -> None:
    result = hak.run(experiment(hak), "--until-decided", FAKE_DECIDED="3")
    assert result.code == 0, result.err
    assert blocks(result) == 4
    manifest = result.manifest
    assert manifest["experiment"]["until_decided"] is True
    assert manifest["experiment"]["looks"] == LOOKS
    assert manifest["sequential"]["stopped_at"] == 4
    assert "look at 2 blocks: UNDECIDED" in result.err and "look at 4 blocks: GO" in result.err


def test_the_last_look_ends_it(hak: Hak) -> None:
    result = hak.run(experiment(hak, until_decided=True))
    assert blocks(result) == 6 and result.manifest["sequential"]["stopped_at"] == 6


def test_a_run_of_fixed_length_takes_no_look(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "work", 20, looks=LOOKS, runs=3), FAKE_DECIDED="1")
    assert blocks(result) == 3 and "sequential" not in result.manifest


def test_the_plan_is_declared_before_the_first_block_and_kept_by_a_resume(hak: Hak) -> None:
    process = hak.start("run", experiment(hak), "--until-decided", "--results", hak.results)
    folder = None
    while folder is None or not (folder / "samples.jsonl").read_bytes():
        folder = hak.newest()
        if folder is not None and not (folder / "samples.jsonl").exists():
            folder = None
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    declared = json.loads((folder / "manifest.json").read_text())
    assert declared["sequential"]["looks"] == LOOKS
    assert declared["sequential"]["level_two_sided"] == 0.02
    result = hak("run", "--resume", folder, FAKE_DECIDED="4")
    assert result.code == 0, result.err
    assert len({s["block"] for s in result.samples if s["void"] is None}) == 4
    assert result.manifest["sequential"]["level_two_sided"] == 0.02
    again = hak("run", "--resume", folder, FAKE_DECIDED="4")
    assert again.samples == result.samples


def test_without_the_analysis_it_does_not_go_on(hak: Hak) -> None:
    result = hak.run(experiment(hak), "--until-decided", FAKE_DEAD="1")
    assert result.code == 3 and "needed to decide when to stop" in result.err
    assert blocks(result) == 2 and result.manifest["status"] == "failed"
    done = hak("run", "--resume", result.folder, FAKE_DECIDED="2")
    assert done.code == 0 and blocks(done) == 2


@pytest.mark.parametrize("option", ["--runs=5", "--quick"])
def test_no_fixed_number_of_blocks_beside_looks(hak: Hak, option: str) -> None:
    result = hak.run(experiment(hak), "--until-decided", option)
    assert result.code == 2 and "looks" in result.err and result.folder is None


def test_the_file_has_either_runs_or_looks(hak: Hak) -> None:
    result = hak.run(hak.experiment("/bin/true", until_decided=True, runs=5))
    assert result.code == 2 and ": runs: " in result.err


@pytest.mark.parametrize("looks", [[10], [4, 4], [8, 2], [1, 5]])
def test_looks_must_rise(hak: Hak, looks: list[int]) -> None:
    result = hak.run(hak.experiment("/bin/true", looks=looks))
    assert result.code == 2 and "looks" in result.err


def test_resume_takes_no_other_plan(hak: Hak) -> None:
    result = hak.run(hak.experiment("/bin/true", runs=2))
    again = hak("run", "--resume", result.folder, "--until-decided")
    assert again.code == 2 and "declared plan" in again.err
