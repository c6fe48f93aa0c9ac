"""Statistics by class, their balance, what is not freed at exit, and the report of memory that ran
out: right after threads ended, after fork, after abort, at a signal and by call."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from preload import ARMS, LIBRARIES, PLAIN, Arm, passes, program, run

OURS, THREADS = 7168, 5120
"""The classes of the blocks that the program leaves behind."""
MIB = 1 << 20


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def classes(stats: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {one["size"]: one for one in stats["classes"]}


def left_behind(stats: dict[str, Any], more: int = 0) -> None:
    """Exactly the program's own blocks are live, and every class balances."""
    found = classes(stats)
    assert found[OURS]["live"] == 7 + more
    assert found[THREADS]["live"] == 3
    assert stats["large_live"] == 2
    for one in found.values():
        known = one["freed"] + one["live"] + one["cached"] + one["waiting"]
        assert one["allocated"] == known and one["balanced"], one
    assert sum(stats["live_by_band"]) == sum(one["live"] for one in found.values())


@pytest.mark.parametrize("arm", ARMS, ids=str)
@pytest.mark.parametrize(
    ("case", "event", "status"),
    [
        ("leave", "exit", 0),
        ("leave_and_abort", "abort", -signal.SIGABRT),
        ("leave_and_free_twice", "abort", -signal.SIGABRT),
        ("leave_and_signal", "signal", 0),
    ],
)
def test_statistics_are_right(arm: Arm, case: str, event: str, status: int, tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    env = {"HAKMEM_STATS": f"json:{path}", "HAKMEM_STATS_SIGNAL": str(int(signal.SIGUSR2))}
    done = run(arm, [program("observed"), case], env=env)
    assert done.returncode == status, done
    (stats,) = lines_of(path)
    assert stats["event"] == event
    left_behind(stats)


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_statistics_by_call(arm: Arm) -> None:
    done = run(arm, [program("observed"), "leave_and_ask"])
    assert done.returncode == 0, done
    left_behind(json.loads(done.stdout))


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_child_of_fork_counts_what_it_inherited(arm: Arm, tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    done = run(arm, [program("observed"), "leave_and_fork"], env={"HAKMEM_STATS": f"json:{path}"})
    assert done.returncode == 0, done
    child, parent = lines_of(path)
    assert child["pid"] != parent["pid"]
    left_behind(child, more=2)
    left_behind(parent)


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_slow_paths_are_counted_for_the_thread_that_took_them(arm: Arm) -> None:
    passes(arm, [program("paths")])


def test_text_goes_to_stderr() -> None:
    done = run(PLAIN, [program("observed"), "leave"], env={"HAKMEM_STATS": "text"})
    assert done.returncode == 0
    assert all(line.startswith("hakmem: ") for line in done.stderr.splitlines())
    row = re.search(rf"^hakmem:   {OURS}: (\d+), (\d+), (\d+), (\d+), (\d+)$", done.stderr, re.M)
    assert row and row[3] == "7"


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_leak_report(arm: Arm) -> None:
    done = run(arm, [program("observed"), "leave"], env={"HAKMEM_LEAK_REPORT": "1"})
    assert done.returncode == 0
    assert f"hakmem: not freed: 7 blocks of class {OURS}\n" in done.stderr
    assert f"hakmem: not freed: 3 blocks of class {THREADS}\n" in done.stderr
    assert re.search(r"^hakmem: not freed: 2 large blocks, 524288 bytes$", done.stderr, re.M)
    assert re.search(r"^hakmem: not freed at exit: \d+ blocks, \d+ bytes\n\Z", done.stderr, re.M)


STUCK = re.compile(
    r"^hakmem: balance: of class 112, (\d+) blocks were allocated, (\d+) came back to their slabs "
    r"and (\d+) freed ones wait for a thread that does not take them in$",
    re.MULTILINE,
)


def test_freed_blocks_come_back(tmp_path: Path) -> None:
    done = run(PLAIN, [program("observed"), "hand_over"], env={"HAKMEM_LEAK_REPORT": "1"})
    assert done.returncode == 0 and not STUCK.search(done.stderr)


def test_a_suppressed_drain_is_caught_by_the_balance() -> None:
    """The profile `faults` can leave remote frees lying."""
    env = {"HAKMEM_LEAK_REPORT": "1", "HAKMEM_FAULT": "drain:1+", "HAKMEM_STRICT": "0"}
    done = run(PLAIN, [program("observed"), "hand_over"], env=env)
    if "unknown variable HAKMEM_FAULT" in done.stderr:
        pytest.skip("this build injects no faults")
    assert done.returncode == 0
    found = STUCK.search(done.stderr)
    assert found, done.stderr
    allocated, freed, waiting = map(int, found.groups())
    assert waiting > freed and freed + waiting <= allocated


OUT = re.compile(
    r"hakmem: out of memory: 3000 bytes \(class 3072, allocated \d+, freed \d+\); "
    r"live \d+ blocks, \d+ bytes; RLIMIT_AS 268435456, VmSize \d+, VmRSS \d+"
    r"(; \d+ more since the last)?"
)


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_out_of_memory_is_reported_now_and_then(arm: Arm) -> None:
    done = run(arm, [program("observed"), "run_out"], address_space=256 * MIB)
    assert done.returncode == 0, done
    lines = done.stderr.splitlines()
    assert 1 <= len(lines) < 100, "there were 1001 failures"
    assert all(OUT.fullmatch(line) for line in lines), lines


def test_out_of_memory_may_be_silent() -> None:
    env = {"HAKMEM_OOM_REPORT": "0"}
    done = run(PLAIN, [program("observed"), "run_out"], env=env, address_space=256 * MIB)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", ["/no/such/folder/stats", "/"])
def test_statistics_that_cannot_be_written(path: str) -> None:
    done = run(PLAIN, [program("observed"), "leave"], env={"HAKMEM_STATS": f"json:{path}"})
    assert done.returncode == 0
    assert done.stderr == f"hakmem: cannot write the statistics to {path}\n"
