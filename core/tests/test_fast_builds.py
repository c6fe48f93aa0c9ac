"""fast and fast-pgo: they serve malloc whole, and say what they are."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from preload import BUILD, Arm, environment
from reports import report_of

HAKBENCH = BUILD / "harness" / "hakbench" / "hakbench"
WORKLOADS = (
    ("random_mixed", "--ops", "200000"),
    ("remote", "--ops", "50000", "--threads", "2"),
    ("realloc_grow", "--ops", "20000"),
    ("large", "--ops", "2000"),
)


@pytest.fixture(params=["fast", "fast-pgo"])
def arm(request: pytest.FixtureRequest) -> Arm:
    if BUILD.name != "standard":
        pytest.skip("once is enough")
    library = BUILD.parent / request.param / "core" / "libhakmem.so"
    if not library.exists():
        pytest.skip(f"not built: ./hak build {request.param}")
    return Arm(request.param, library)


def test_says_what_it_is(arm: Arm, tmp_path: Path) -> None:
    report = report_of(arm, tmp_path)
    assert report["profile"] == arm.name and report["variant"] == "baseline"
    facts = json.loads((arm.library.parent / "build.json").read_text("utf-8"))
    assert facts["profile"] == arm.name and "-O3" in facts["flags"]


def test_training_is_recorded(arm: Arm) -> None:
    path = arm.library.parent / "training.json"
    assert path.exists() == (arm.name == "fast-pgo")
    if path.exists():
        training = json.loads(path.read_text("utf-8"))
        assert all(entry["ops"] > 0 for entry in training["workloads"])
        assert not (arm.library.parent / "libhakmem-lab.so").exists()


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda words: str(words[0]))
def test_blocks_stay_whole(arm: Arm, workload: tuple[str, ...]) -> None:
    command = [str(HAKBENCH), *workload, "--verify", "--min-seconds", "0"]
    done = subprocess.run(command, env=environment(arm), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert Path(json.loads(done.stdout)["malloc_library"]).resolve() == arm.library.resolve()
