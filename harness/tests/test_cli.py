"""The command line: boxes, doctor, help, errors in one line."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from conftest import PROGRAM, ROOT, Hak


def test_boxes(hak: Hak) -> None:
    boxes = json.loads(hak("boxes", "--json").out)
    batch = next(box for box in boxes if box["id"] == "refill_batch")
    assert batch["env"] == "HAKMEM_REFILL_BATCH" and batch["default_value"] == 16
    assert batch["kind"] == "data" and batch["status"] == "default-on" and batch["live"] is True
    for box in boxes:
        assert box["env"] in hak("boxes").out
    page = hak("boxes", "--markdown").out
    assert page.startswith("# Boxes") and "## HAKMEM_REFILL_BATCH" in page


def test_doctor_says_what_to_type_and_changes_nothing(hak: Hak) -> None:
    checks = json.loads(hak("doctor", "--json").out)
    names = {check["check"] for check in checks}
    assert {"governor", "turbo", "smt", "aslr", "thp", "swap", "numa", "isolated"} <= names
    assert {"load", "steal", "psi", "perf", "virtualisation", "clock", "cpus"} <= names
    assert {"frequency", "interrupts", "irqbalance", "nohz_full", "quota", "memory"} <= names
    assert {"overcommit", "ksm", "perf_rate", "power"} <= names
    assert len(names) == len(checks)
    for check in checks:
        assert check["severity"] in ("ok", "note", "warn")
        assert check["state"] and check["effect"]
    assert "thp" in hak("doctor").out


def test_help_names_the_exit_codes(hak: Hak) -> None:
    result = hak("help")
    assert result.code == 0
    for code in ("130", "12", "11", "10"):
        assert code in result.out
    assert hak("run", "--help").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["run"],
        ["run", "/no/such/file.json"],
        ["run", "x", "--runs", "0"],
        ["run", "x", "--mode", "slice"],
        ["run", "x", "--gate", "go"],
        ["run", "--resume", "x", "--runs", "3"],
        ["boxes", "--json", "--markdown"],
    ],
)
def test_wrong_usage_is_two_and_one_line(hak: Hak, arguments: list[str]) -> None:
    result = hak(*arguments)
    assert result.code == 2
    assert result.err.startswith("hak: ") and result.err.count("\n") == 1, result.err


def test_an_error_in_an_experiment_names_file_line_and_place(hak: Hak) -> None:
    file = hak.experiment("/bin/true", neutral_treshold_pct=1)
    result = hak.run(file)
    line = 1 + file.read_text().splitlines().index(' "neutral_treshold_pct": 1')
    assert result.code == 2
    assert f"{file}:{line}: neutral_treshold_pct: unknown key" in result.err
    assert 'nearest is "neutral_threshold_pct"' in result.err
    assert result.folder is None


def test_a_doubled_key(hak: Hak) -> None:
    file = hak.experiment("/bin/true")
    file.write_text(file.read_text().replace('"runs": 2', '"runs": 2, "runs": 3'))
    result = hak.run(file)
    assert result.code == 2 and "twice" in result.err


def test_the_experiments_of_the_repository_are_valid(hak: Hak) -> None:
    for file in sorted((ROOT / "experiments").glob("*.json")):
        result = hak("run", file, "--results", "/proc/nowhere", "--no-wait")
        # 5: the file is fine and the results folder is not; 3: a library is not built here.
        assert result.code in (3, 5), (file, result.err)


def test_a_relocated_program_says_what_it_needs(hak: Hak) -> None:
    del hak.env["HAK_ROOT"]
    copy = hak.folder / "hak"
    shutil.copy(PROGRAM, copy)
    done = subprocess.run(
        [copy, "run", hak.experiment("/bin/true")], env=hak.env, capture_output=True, text=True
    )
    assert done.returncode == 3 and "HAK_ROOT" in done.stderr
