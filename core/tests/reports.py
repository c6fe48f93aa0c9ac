"""The allocator's report (HAKMEM_REPORT), read back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from preload import Arm, run

Report = dict[str, Any]


def reports(path: Path) -> list[Report]:
    """One report a line; every line is whole."""
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def report_of(
    arm: Arm,
    tmp_path: Path,
    command: Sequence[str | Path] = ("/bin/echo",),
    env: Mapping[str, str] | None = None,
) -> Report:
    """The report of one process, which has to pass in silence."""
    path = tmp_path / "report.jsonl"
    done = run(arm, command, env={"HAKMEM_REPORT": str(path), **(env or {})})
    assert (done.returncode, done.stderr) == (0, ""), done
    (report,) = reports(path)
    return report


def profile(arm: Arm, tmp_path: Path) -> str:
    return str(report_of(arm, tmp_path)["profile"])
