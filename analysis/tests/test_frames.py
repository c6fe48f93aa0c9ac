"""DataFrames for notebooks, and the slices of a run as they are exported."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from synthetic import Fake, make_run

from hakmem_analysis import (
    comparisons_frame,
    guards_frame,
    history_frame,
    judge_run,
    load_run,
    pairs_frame,
    slices_frame,
)
from hakmem_analysis.cli import main
from hakmem_analysis.export import to_gbench


def test_pairs_are_what_the_verdict_is_made_of(tmp_path: Path) -> None:
    fake = Fake(
        cells=("random_mixed", "larson"),
        effects={"treatment": 3.0, "b64": -2.0},
        values={"baseline": "1", "treatment": "16", "b64": "64"},
    )
    run = load_run(make_run(tmp_path / "r", fake))
    frame = pairs_frame(run)
    assert len(frame) == 10 * 2 * 2
    verdict = judge_run(run)
    for item in verdict.comparisons:
        part = frame[
            (frame["cell"] == item.cell.name) & (frame["treatment"] == item.treatment.name)
        ]
        expected = 100 * np.expm1(part["log_difference"].mean())
        assert item.evidence.delta_pct == pytest.approx(expected)
        assert list(part["baseline"]) == list(item.pair.first)


def test_comparisons_and_guards_as_frames(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path / "r", Fake(cells=("random_mixed", "larson"))))
    verdict = judge_run(run)
    frame = comparisons_frame(verdict)
    assert list(frame["role"]) == ["primary", "guard"]
    assert frame.loc[0, "verdict"] == verdict.primary.word.text
    assert (frame["low_pct"] < frame["delta_pct"]).all()
    assert (frame["delta_pct"] < frame["high_pct"]).all()
    guards = guards_frame(verdict)
    assert len(guards) == len(verdict.guards) and set(guards["state"]) <= {"PASS", "FAIL", "OPEN"}


def test_history_as_a_frame(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "results" / "quickstart" / "run")
    main(["report", str(folder)])
    frame = history_frame(tmp_path / "results")
    assert list(frame["phase"]) == ["quickstart"]
    assert frame.loc[0, "decision"] == judge_run(load_run(folder)).decision.text


def sliced(folder: Path) -> Path:
    """Six processes with one ABBA group and one A/A group; the treatment does 4 % more."""
    make_run(folder, Fake(blocks=0, experiment={"mode": "slices", "runs": 6}))
    lines = []
    for process in range(6):
        speed = 1e6 + 1000 * process

        def piece(arm: str, gain: float) -> dict[str, object]:
            return {"arm": arm, "ops": speed * gain, "seconds": 1.0}

        order = ("baseline", "treatment", "treatment", "baseline")
        record = {
            "slices": [piece(arm, 1.04 if arm == "treatment" else 1.0) for arm in order],
            "slices_aa": [piece(arm, 1.0) for arm in order],
        }
        sample = {"format": 1, "cell": "random_mixed", "arm": "slices", "block": process}
        sample |= {"status": "ok", "metrics": {}, "proof": {"ok": True}, "void": None}
        lines.append(json.dumps({**sample, "record": record}))
    (folder / "samples.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_slices_as_a_frame(tmp_path: Path) -> None:
    frame = slices_frame(load_run(sliced(tmp_path / "r")))
    assert len(frame) == 6 * 8
    assert dict(frame["part"].value_counts()) == {"slices": 24, "slices_aa": 24}
    assert list(frame["index"][:4]) == [0, 1, 2, 3]
    assert slices_frame(load_run(make_run(tmp_path / "none"))).empty


def test_slices_are_exported_by_arm(tmp_path: Path) -> None:
    content = to_gbench(load_run(sliced(tmp_path / "r")))
    names = [entry["name"] for entry in content["benchmarks"]]
    assert names == ["random_mixed/baseline"] * 6 + ["random_mixed/treatment"] * 6
    first, other = content["benchmarks"][0], content["benchmarks"][6]
    assert first["items_per_second"] == pytest.approx(1e6)
    assert other["real_time"] == pytest.approx(1e9 / 1.04e6)
    assert first["repetitions"] == 6
    json.dumps(content, allow_nan=False)
