"""Which stages run, and how the end is told."""

import argparse
import signal
import subprocess
import sys

import pytest

import test as hak_test
from running import Outcome
from stages import Stage, all_stages


def options(**given: object) -> argparse.Namespace:
    return argparse.Namespace(**{"fast": False, "slow": False, "stage": [], **given})


def chosen(**given: object) -> set[str]:
    return {stage.name for stage in hak_test.choose(all_stages(), options(**given))}


def test_every_need_is_a_stage_before() -> None:
    seen: set[str] = set()
    for stage in all_stages():
        assert seen.issuperset(stage.needs), stage.name
        seen.add(stage.name)


def test_choices() -> None:
    assert chosen(slow=True) == {stage.name for stage in all_stages()} - {"tidy"}
    left_out = {"slow", "build-debug", "unit-debug", "pytest-core-clang"}
    assert not left_out & chosen() and {"build-clang", "unit-clang", "pytest-core"} <= chosen()
    assert {"build-gcc", "unit-gcc", "pytest-ci"} <= chosen(fast=True) < chosen()
    assert chosen(stage=["unit-clang"]) == {"build-clang", "unit-clang"}


def test_the_end(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def breaks() -> Outcome:
        raise RuntimeError("broken stage")

    stages = [
        Stage("builds", "", lambda: Outcome(failed=1, said="no compiler")),
        Stage("needs it", "", lambda: Outcome(passed=9), needs=("builds",)),
        Stage("breaks", "", breaks),
        Stage("works", "", lambda: Outcome(passed=3, skipped=1)),
    ]
    monkeypatch.setattr(hak_test, "all_stages", lambda: stages)
    monkeypatch.setattr(hak_test, "clear_logs", lambda: None)
    monkeypatch.setattr(sys, "argv", ["test.py"])
    assert hak_test.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert any("needs it" in line and "not run: builds failed" in line for line in lines)
    assert "    no compiler" in lines
    assert "    RuntimeError: broken stage" in lines
    assert any("works" in line and "3 passed, 1 skipped" in line for line in lines)
    assert lines[-1] == "3 passed, 2 failed"


def test_a_run_in_the_background_can_be_interrupted() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        hak_test.accept_interrupts()
        child = subprocess.run(["sh", "-c", "kill -INT $$; exit 3"], check=False)
    finally:
        signal.signal(signal.SIGINT, before)
    assert child.returncode == -signal.SIGINT
