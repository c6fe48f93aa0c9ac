"""What the stages of `hak test` share: where things are, processes with a log, and what came out."""

from __future__ import annotations

import os
import signal
import subprocess
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test"
CPUS = len(os.sched_getaffinity(0))
TIMED_OUT = 124
WIDEST = 300
"""Characters of a line that is shown again from a log: a compiler's command is longer than useful."""


@dataclass(frozen=True)
class Outcome:
    """Counts of test cases; a stage without cases of its own (a build, a check) is one case."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    said: str = ""
    """What to print below the line of a stage that failed."""

    def __add__(self, other: Outcome) -> Outcome:
        said = "\n".join(text for text in (self.said, other.said) if text)
        return Outcome(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            said,
        )


def log_of(stage: str) -> Path:
    LOGS.mkdir(parents=True, exist_ok=True)
    return LOGS / f"{stage}.log"


def tail(log: Path, lines: int = 40) -> str:
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return "\n".join(line[:WIDEST] for line in text.splitlines()[-lines:])


def run(
    command: Sequence[str | Path],
    log: Path,
    *,
    timeout: float,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> int:
    """Exit status of the command, whose output is appended to `log`; 127 where it does not exist,
    124 where it ran over `timeout` seconds. It and its children are gone when this returns."""
    words = [str(word) for word in command]
    with log.open("a", encoding="utf-8") as out:
        out.write(f"$ {textwrap.shorten(' '.join(words), 400, placeholder=' …')}\n")
        out.flush()
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )
        except OSError as error:
            out.write(f"cannot start {words[0]}: {error.strerror}\n")
            return 127
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            out.write(f"\nstopped: longer than {timeout:.0f} s\n")
            return TIMED_OUT
        finally:
            end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kills what is left of the process's group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def check(
    stage: str,
    command: Sequence[str | Path],
    *,
    timeout: float = 600,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> Outcome:
    """A stage of one command that succeeds or fails."""
    log = log_of(stage)
    if run(command, log, timeout=timeout, cwd=cwd, env=env) == 0:
        return Outcome(passed=1)
    return Outcome(failed=1, said=tail(log))


def tracked(*patterns: str) -> list[str]:
    """Paths of the tracked files that exist, relative to the repository."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, check=False
    )
    if listing.returncode != 0:
        raise RuntimeError(listing.stderr.decode(errors="replace").strip())
    paths = listing.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [path for path in paths if path and (ROOT / path).is_file()]
