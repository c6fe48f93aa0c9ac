"""A stage's process leaves its output, its status, and no children."""

import os
import time
from pathlib import Path

from running import TIMED_OUT, Outcome, run


def test_output_and_status(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert run(["sh", "-c", "echo said; exit 7"], log, timeout=20) == 7
    assert "said\n" in log.read_text()


def test_a_program_that_does_not_exist(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert run(["no-such-program"], log, timeout=20) == 127
    assert "cannot start no-such-program" in log.read_text()


def test_beyond_the_time_limit_grandchildren_are_gone_too(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = "sleep 60 & echo $!; wait"
    assert run(["sh", "-c", script], log, timeout=0.5) == TIMED_OUT
    child = int(log.read_text().splitlines()[1])
    for _ in range(100):
        if not running(child):
            return
        time.sleep(0.05)
    raise AssertionError("the grandchild still runs")


def running(process: int) -> bool:
    """A zombie that nobody has waited for yet does not run."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rsplit(")", 1)[1].split()[0] != "Z" and os.path.exists(f"/proc/{process}")


def test_outcomes_add_up() -> None:
    total = Outcome(1, 2, 3, "a") + Outcome(4, 5, 6) + Outcome(said="b")
    assert total == Outcome(5, 7, 9, "a\nb")
