"""Kind 15 and the budgets: what a start and a thread's life cost in system calls and memory."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from preload import LIBRARIES, PLAIN, Arm, environment, program, run

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


def test_start_costs_at_most_six_system_calls(tmp_path: Path) -> None:
    """More than a preloaded library does that is empty."""
    source = tmp_path / "empty.c"
    source.write_text("int hakmem_test_empty;\n", encoding="utf-8")
    empty = tmp_path / "libempty.so"
    built = run(None, ["cc", "-shared", "-fPIC", "-nostdlib", "-o", empty, source])
    assert built.returncode == 0, built
    log = tmp_path / "log"
    with_empty = calls(Arm("empty", empty), ["/bin/true"], {}, log)
    with_hakmem = calls(PLAIN, ["/bin/true"], {}, log)
    assert with_hakmem.total() <= with_empty.total() + 6, with_hakmem - with_empty
