"""Kind 15 and the budgets: what a start and a thread's life cost in system calls and memory."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from preload import BUILD, LIBRARIES, PLAIN, Arm, environment, program, run

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def calls(
    arm: Arm | None, command: list[str | Path], env: dict[str, str], log: Path
) -> Counter[str]:
    """System calls of a process and its threads, counted by name."""
    settings = [f"-E{name}={value}" for name, value in environment(arm, env).items()]
    done = run(None, ["strace", "-f", "-qq", "-o", log, *settings, *command])
    assert done.returncode == 0, done
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    names = [line.split(None, 1)[1].split("(")[0] for line in lines if "(" in line]
    return Counter(name for name in names if not name.startswith("<... "))


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_k15_a_thread_costs_at_most_two_system_calls(arm: Arm, tmp_path: Path) -> None:
    few, many = 50, 250
    command: list[str | Path] = [program("k14_thread_ends"), "counted"]

    def per_thread(which: Arm | None) -> float:
        log = tmp_path / "log"
        first = calls(which, command, {"THREADS": str(few)}, log)
        last = calls(which, command, {"THREADS": str(many)}, log)
        # futex: waiting for the thread's end, a matter of luck.
        return sum((last - first)[name] for name in last if name != "futex") / (many - few)

    assert per_thread(arm) <= per_thread(None) + 2


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Arm:
    """A library with nothing in it: what a preload costs in itself."""
    folder = tmp_path_factory.mktemp("empty")
    (folder / "empty.c").write_text("int hakmem_test_empty;\n", encoding="utf-8")
    library = folder / "libempty.so"
    built = run(None, ["cc", "-shared", "-fPIC", "-nostdlib", "-o", library, folder / "empty.c"])
    assert built.returncode == 0, built
    return Arm("empty", library)


AS_USERS_DO = {"HAKMEM_STRICT": "-unset-"}


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_true_costs_at_most_six_system_calls(arm: Arm, empty: Arm, tmp_path: Path) -> None:
    log = tmp_path / "log"
    nothing = calls(empty, ["/bin/true"], {}, log)
    own = calls(arm, ["/bin/true"], AS_USERS_DO, log)
    assert own.total() <= nothing.total() + 6, own - nothing


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_start_of_the_heap_costs_at_most_seven_more(arm: Arm, tmp_path: Path) -> None:
    """Limit, reservation, routes (twice), records, first slices, the sealed page. Any HAKMEM_ variable
    starts it, so `true` is enough."""
    log = tmp_path / "log"
    asleep = calls(arm, ["/bin/true"], AS_USERS_DO, log)
    started = calls(arm, ["/bin/true"], {}, log)
    assert started.total() <= asleep.total() + 7, started - asleep


def resident_kib(arm: Arm | None) -> int:
    """Of a small program that starts the heap as well. The least of ten runs: how many pages of a file
    the kernel maps at once varies."""
    counts = []
    for _ in range(10):
        status = run(arm, ["/bin/cat", "/proc/self/status"], env=AS_USERS_DO).stdout
        found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
        assert found, status
        counts.append(int(found[1]))
    return min(counts)


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_start_takes_at_most_300_kib(arm: Arm) -> None:
    # The debug build fills blocks when it carves them and when it hands them out: their pages, too.
    filled = 32 if BUILD.name == "debug" else 0
    assert resident_kib(arm) <= resident_kib(None) + 300 + filled


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_one_cpu_is_enough(arm: Arm) -> None:
    """Threads that wait for each other on one CPU get on all the same."""
    for name, arguments in {
        "stress": ["4", "3", "2000"],
        "k16_producer_consumer": ["producers_exit"],
        "k13_fork": ["30"],
        "k14_thread_ends": ["waves"],
        "larson": ["4", "10", "1000"],
    }.items():
        cpu = str(min(os.sched_getaffinity(0)))
        done = run(arm, ["taskset", "-c", cpu, program(name), *arguments])
        assert (done.returncode, done.stderr) == (0, ""), (name, done)
