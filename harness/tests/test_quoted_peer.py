"""Every verdict says where hakmem stands against mimalloc, from runs of its own session."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import Hak

MIMALLOC = any(Path("/usr/lib").glob("*-linux-gnu/libmimalloc.so*"))
CELLS = [
    {"name": "random_mixed", "params": {"ops": 20000}, "primary": True},
    {"name": "dist_app", "params": {"ops": 20000}},
]


def experiment(hak: Hak, **changes: Any) -> Path:
    arms = [{"name": name, "library": "lab"} for name in ("baseline", "treatment")]
    content = {"arms": arms, "workloads": CELLS, "runs": 7, "min_seconds": 0.01, **changes}
    return hak.experiment(**content)


@pytest.mark.skipif(not MIMALLOC, reason="mimalloc is not installed")
def test_mimalloc_runs_in_some_blocks_of_the_primary_cell(hak: Hak) -> None:
    result = hak.run(experiment(hak))
    assert result.code == 0, result.err
    assert result.statuses() == {"ok"}
    assert Counter((s["cell"], s["arm"]) for s in result.samples) == {
        ("random_mixed", "baseline"): 7,
        ("random_mixed", "treatment"): 7,
        ("random_mixed", "mimalloc"): 5,
        ("dist_app", "baseline"): 7,
        ("dist_app", "treatment"): 7,
    }
    assert result.folder is not None
    samples = result.folder / "samples.jsonl"
    samples.write_text("".join(samples.read_text().splitlines(keepends=True)[:12]))
    again = hak("run", "--resume", result.folder)
    assert again.code == 0, again.err
    assert sum(s["arm"] == "mimalloc" and not s["void"] for s in again.samples) == 5


@pytest.mark.parametrize("references", [[], ["glibc"]])
def test_an_experiment_that_names_its_references_gets_these(
    hak: Hak, references: list[str]
) -> None:
    result = hak.run(experiment(hak, references=references, runs=1, workloads=CELLS[:1]))
    assert {s["arm"] for s in result.samples} == {"baseline", "treatment", *references}
