"""The profile `faults`: the n-th mmap, mprotect, madvise or mremap fails, for n = 1, 2, 3, … until the
work passes without a fault. Never a crash, a leak, or a broken later allocation."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from preload import PLAIN, program, run
from reports import profile, report_of, reports

MOST_CALLS = 200


@pytest.fixture(autouse=True)
def only_with_faults(tmp_path: Path) -> None:
    folder = tmp_path / "profile"
    folder.mkdir()
    if profile(PLAIN, folder) != "faults":
        pytest.skip("this build injects no faults")


def faults_of(path: Path, fault: str) -> dict[str, Any]:
    """The calls that a run of the work made, which has to pass."""
    path.unlink(missing_ok=True)
    env = {"HAKMEM_REPORT": str(path), "HAKMEM_FAULT": fault}
    done = run(PLAIN, [program("faults")], env=env)
    assert done.returncode == 0, (fault, done)
    (report,) = reports(path)
    return dict(report["faults"])


@pytest.mark.parametrize("call", ["mmap", "mprotect", "madvise", "mremap"])
def test_each_call_may_fail(call: str, tmp_path: Path) -> None:
    failed = 0
    for n in range(1, MOST_CALLS):
        faults = faults_of(tmp_path / "report.jsonl", f"{call}:{n}")
        if faults["failed"] == 0:
            break
        failed += 1
    assert 0 < failed == faults[call] < MOST_CALLS - 1, faults


def test_calls_are_counted_without_a_fault(tmp_path: Path) -> None:
    faults: Counter[str] = Counter(report_of(PLAIN, tmp_path, [program("faults")])["faults"])
    assert faults.pop("failed") == 0
    faults.pop("drain")
    assert set(faults) == {"mmap", "mprotect", "madvise", "mremap"}
    assert min(faults.values()) > 0


@pytest.mark.parametrize("call", ["mprotect", "madvise", "mremap"])
def test_all_calls_may_fail_from_the_start_of_the_work(call: str, tmp_path: Path) -> None:
    """No memory from the system any more: the program gets on with what there is, or with NULL."""
    faults = report_of(PLAIN, tmp_path, ["/bin/echo"])["faults"]
    path = tmp_path / "after.jsonl"
    env = {"HAKMEM_REPORT": str(path), "HAKMEM_FAULT": f"{call}:{faults[call] + 1}+"}
    done = run(PLAIN, [program("faults"), "no-more"], env=env)
    assert done.returncode == 0, done
    assert reports(path)[0]["faults"]["failed"] > 0


@pytest.mark.parametrize("text", ["", "mmap", "mmap:", "mmap:0", "munmap:1", "mmap:1x", "mmap:-1"])
def test_bad_fault_is_refused(text: str) -> None:
    done = run(PLAIN, ["/bin/echo"], env={"HAKMEM_FAULT": text})
    assert done.returncode == 78
    assert done.stderr.startswith("hakmem: HAKMEM_FAULT") and done.stderr.count("\n") == 1
