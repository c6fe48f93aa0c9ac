"""The training of fast-pgo: its workloads, and what it does when a step fails."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import train

BUILD = Path(os.environ.get("HAK_BUILD", train.WORKLOADS.parents[1] / "build" / "standard"))
HAKBENCH = BUILD / "harness" / "hakbench" / "hakbench"


needs_hakbench = pytest.mark.skipif(not HAKBENCH.exists(), reason="hakbench is not built")


def entries() -> list[train.Json]:
    found: list[train.Json] = json.loads(train.WORKLOADS.read_text("utf-8"))
    return found


@needs_hakbench
def test_hakbench_takes_every_workload() -> None:
    for entry in entries():
        small = {**entry["params"], **({"ops": 1000} if "ops" in entry["params"] else {})}
        done = subprocess.run(
            [HAKBENCH, *train.arguments({**entry, "params": small})], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["workload"] == entry["workload"]


def test_the_measured_workload_is_not_trained_on() -> None:
    """random_mixed decides the project's experiments; the record's gain was measured on its own
    training."""
    assert "random_mixed" not in {entry["workload"] for entry in entries()}


def test_old_counts_and_the_old_record_are_forgotten(tmp_path: Path) -> None:
    for name in ("core/libcore.a.p/x.gcda", "training-1.profraw", "trained.profdata"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "core" / "training.json").touch()
    train.forget(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@needs_hakbench
def test_another_allocator_is_no_training(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    entry = {"workload": "dist_app", "params": {"ops": 1000}, "seed": 7}
    with pytest.raises(train.TrainingError, match="served by"):
        train.run_workload(tmp_path, HAKBENCH, entry)  # no library there: libc serves


def test_no_counts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(train.TrainingError, match="no counts"):
        train.collect(tmp_path)


def test_a_failed_step_leaves_no_record(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "training.json").write_text("{}")
    script = Path(train.__file__)
    done = subprocess.run(
        [sys.executable, script, tmp_path, HAKBENCH], capture_output=True, text=True
    )
    assert done.returncode == 1 and done.stderr.startswith("train: ")
    assert not (tmp_path / "core" / "training.json").exists()
