"""Programs that must pass whatever the boxes are set to, run under the lab library."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from registry import program

TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Trial:
    """A program that ends with 0 and an empty stderr when the allocator under it is sound."""

    command: tuple[str, ...]

    @property
    def name(self) -> str:
        return " ".join([Path(self.command[0]).name, *self.command[1:2]])


def short_trials() -> list[Trial]:
    """A few hundred milliseconds in all: every path of the allocator, blocks checked whole."""
    bench = str(program().parent / "hakbench/hakbench")
    ends = ("--verify", "--min-seconds", "0", "--seed", "42")
    return [
        Trial((bench, "random_mixed", "--ops", "100000", *ends)),
        Trial((bench, "remote", "--ops", "50000", "--threads", "2", "--remote", "50", *ends)),
        Trial((bench, "thread_churn", "--rounds", "4", *ends)),
        Trial((bench, "realloc_grow", "--ops", "20000", *ends)),
        Trial((bench, "aligned", "--ops", "20000", *ends)),
    ]


def passes(library: Path, boxes: Mapping[str, str], trial: Trial) -> str:
    """ "" when the program passed and the allocator had the boxes as they were set; else what not."""
    shown = " ".join(f"{name}={value}" for name, value in boxes.items())
    with tempfile.TemporaryDirectory(prefix="hak-trial-") as folder:
        report = Path(folder) / "report.jsonl"
        env = {
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C",
            "LD_PRELOAD": str(library),
            "HAKMEM_STRICT": "1",
            "HAKMEM_REPORT": str(report),
            **boxes,
        }
        try:
            done = subprocess.run(
                trial.command,
                env=env,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"{trial.name} with {shown}: not done within {TIMEOUT_S:.0f} s"
        if done.returncode != 0 or done.stderr:
            last = (done.stderr.strip().splitlines() or ["silent"])[-1]
            return f"{trial.name} with {shown}: exit code {done.returncode} ({last[:120]})"
        if not report.exists():
            return f"{trial.name} with {shown}: the allocator gave no report"
        last_report = json.loads(report.read_text(encoding="utf-8").splitlines()[-1])
        for name, value in boxes.items():
            had = last_report["boxes"].get(name, {}).get("value")
            if str(had) != value:
                return f"{trial.name}: {name} was {had}, not {value}"
    return ""
