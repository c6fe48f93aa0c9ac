"""Fixtures of the harness tests: the program under test, small experiments, result folders.

HAK_PROGRAM names the program and HAK_BUILD the build folder that holds the test programs.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("HAK_PROGRAM", ROOT / "build/standard/harness/hak"))
BUILD = Path(os.environ.get("HAK_BUILD", PROGRAM.parents[1]))
PROGRAMS = BUILD / "harness" / "tests" / "programs"
MISBEHAVE = PROGRAMS / "misbehave"
FAKE = PROGRAMS / "libhakmem_fake.so"
ABORTING = PROGRAMS / "libaborting.so"

# Stands in for the analysis, so that a test of the harness does not wait for pandas.
FAKE_ANALYSIS = """#!/bin/sh
[ "$3" = report ] || exit 0
printf '{"format": 1, "decision": "%s", "headline": "fake: %s"}' \\
  "${FAKE_DECISION:-GO}" "${FAKE_DECISION:-GO}" > "$4/verdict.json"
printf '{"format": 1, "headline": "fake sweep"}' > "$4/compare.json"
"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out unless slow tests are asked for")


@dataclass
class Result:
    """What a `hak` process did, and the folder it wrote, where it wrote one."""

    code: int
    out: str
    err: str
    folder: Path | None

    @property
    def manifest(self) -> dict[str, Any]:
        assert self.folder is not None, self.err
        loaded: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text())
        return loaded

    @property
    def samples(self) -> list[dict[str, Any]]:
        assert self.folder is not None, self.err
        return read_samples(self.folder)

    def statuses(self, arm: str | None = None) -> set[str]:
        return {s["status"] for s in self.samples if arm in (None, s["arm"])}


def read_samples(folder: Path) -> list[dict[str, Any]]:
    """All lines of samples.jsonl; every one must be whole and valid."""
    text = (folder / "samples.jsonl").read_text()
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


class Hak:
    """Runs the program in a folder of its own, with a lock of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results"
        analysis = folder / "python"
        analysis.write_text(FAKE_ANALYSIS)
        analysis.chmod(0o755)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "TMPDIR": str(folder),
            "HAK_ROOT": str(ROOT),
            "HAK_LOCK": str(folder / "lock"),
            "HAK_PYTHON": str(analysis),
        }

    def experiment(self, *command: object, **changes: Any) -> Path:
        """Writes an experiment of glibc against glibc on a program; `changes` replace keys, and
        remove them where they are None."""
        content: dict[str, Any] = {
            "phase": "T",
            "title": "t",
            "hypothesis": "h",
            "forecast": {"low": -1, "high": 1},
            "arms": [
                {"name": "baseline", "library": "glibc"},
                {"name": "treatment", "library": "glibc"},
            ],
            "workloads": [{"name": "program", "command": [str(word) for word in command]}],
            "runs": 2,
            "timeout_seconds": 20,
            "void_limits": {"steal_pct": 100, "foreign_load_pct": 100},
        }
        content.update(changes)
        content = {key: value for key, value in content.items() if value is not None}
        path = self.folder / "experiment.json"
        path.write_text(json.dumps(content, indent=1))
        return path

    def fake_arms(self, **treatment: str) -> list[dict[str, Any]]:
        """Two arms on the stand-in allocator, refill batch 16 against 1."""
        return [
            {"name": "baseline", "library": str(FAKE), "env": {"HAKMEM_REFILL_BATCH": "16"}},
            {
                "name": "treatment",
                "library": str(FAKE),
                "env": {"HAKMEM_REFILL_BATCH": "1", **treatment},
            },
        ]

    def command(self, *arguments: object) -> list[str]:
        return [str(PROGRAM), *(str(argument) for argument in arguments)]

    def start(self, *arguments: object, **options: Any) -> subprocess.Popen[str]:
        """Starts it without waiting."""
        return subprocess.Popen(
            self.command(*arguments),
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            **options,
        )

    def __call__(self, *arguments: object, **env: str) -> Result:
        done = subprocess.run(
            self.command(*arguments),
            env={**self.env, **env},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            errors="replace",
        )
        return Result(done.returncode, done.stdout, done.stderr, self.newest())

    def run(self, experiment: Path, *options: object, **env: str) -> Result:
        return self("run", experiment, "--results", self.results, *options, **env)

    def newest(self) -> Path | None:
        found = sorted(self.results.glob("*/*"))
        return found[-1] if found else None


@pytest.fixture
def hak(tmp_path: Path) -> Hak:
    """The program in a fresh folder."""
    return Hak(tmp_path)
