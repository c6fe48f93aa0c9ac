"""Reading result folders: what is cut, damaged, of another version, or missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic import Fake, make_run

from hakmem_analysis import AnalysisError, judge_run, load_run, select


def rewrite(folder: Path, change) -> None:
    path = folder / "samples.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(r) + "\n" for r in change(records)))


def test_frame_has_a_row_a_process_and_the_metrics(tmp_path):
    run = load_run(make_run(tmp_path / "r"))
    assert len(run.samples) == 30
    assert {"cell", "arm", "block", "ops_per_s", "peak_rss_kib"} <= set(run.samples.columns)
    assert run.samples["instructions"].isna().all()
    assert run.samples["missing"][0]["instructions"].startswith("perf_event_open")
    assert run.warnings == [] and run.missing_cells == []


def test_last_record_cut_at_every_byte(tmp_path):
    folder = make_run(tmp_path / "r", Fake(blocks=3))
    path = folder / "samples.jsonl"
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    whole = len(content) - len(lines[-1])
    for cut in range(whole, len(content) + 1):
        path.write_bytes(content[:cut])
        run = load_run(folder)
        if cut == len(content):
            assert len(run.samples) == 9 and not run.warnings
        elif cut == whole:
            assert len(run.samples) == 8 and not run.warnings
        else:
            assert len(run.samples) == 8
            assert "samples.jsonl:9: the last record is cut short" in run.warnings[0]


@pytest.mark.parametrize("damage", [b"{", b"", b"[1]", b'"x"', b"\xff\xfe", b'{"format": 1}'])
def test_damage_in_the_middle_names_the_line(tmp_path, damage):
    folder = make_run(tmp_path / "r")
    path = folder / "samples.jsonl"
    lines = path.read_bytes().splitlines()
    lines[4] = damage
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(AnalysisError, match=r"samples\.jsonl:5:"):
        load_run(folder)


@pytest.mark.parametrize("value", ["NaN", "Infinity", '"fast"'])
def test_a_metric_must_be_a_number(tmp_path, value):
    folder = make_run(tmp_path / "r")
    path = folder / "samples.jsonl"
    lines = path.read_text().splitlines()
    record = json.loads(lines[2])
    lines[2] = lines[2].replace(str(record["metrics"]["ops_per_s"]), value)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(AnalysisError, match=r"samples\.jsonl:3:"):
        load_run(folder)


def test_higher_format_is_refused_by_name(tmp_path):
    folder = make_run(tmp_path / "r")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "format": 2}))
    with pytest.raises(AnalysisError, match=r"manifest\.json: has format 2"):
        load_run(folder)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    rewrite(folder, lambda records: [{**records[0], "format": 7}, *records[1:]])
    with pytest.raises(AnalysisError, match=r"samples\.jsonl:1: has format 7"):
        load_run(folder)


def test_missing_cells_are_named(tmp_path):
    fake = Fake(cells=("a", "b"), change=lambda r: r if r["cell"] == "a" else None)
    run = load_run(make_run(tmp_path / "r", fake))
    assert run.missing_cells == ["b"]
    assert "cells without a sample: b" in run.warnings


@pytest.mark.parametrize("key", ["cell", "arm"])
def test_names_of_another_run_are_refused(tmp_path, key):
    folder = make_run(tmp_path / "r")
    rewrite(folder, lambda records: [*records, {**records[-1], key: "other"}])
    with pytest.raises(AnalysisError, match=f"{key} 'other' is not in the manifest"):
        load_run(folder)


def test_folder_without_files(tmp_path):
    with pytest.raises(AnalysisError, match="no such folder"):
        load_run(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(AnalysisError, match="manifest.json: no such file"):
        load_run(tmp_path / "empty")


def test_no_samples_yet(tmp_path):
    folder = make_run(tmp_path / "r", Fake(status="running"))
    (folder / "samples.jsonl").unlink()
    run = load_run(folder)
    assert len(run.samples) == 0
    assert judge_run(run).decision.text in ("UNDECIDED", "INVALID")


def test_void_attempt_is_replaced_by_the_next(tmp_path):
    def twice(records):
        first = [
            {**r, "void": "steal 9 % > 5 %" if r["arm"] == "baseline" else None}
            for r in records
            if r["block"] == 2
        ]
        again = [{**r, "attempt": 2} for r in records if r["block"] == 2]
        others = [r for r in records if r["block"] != 2]
        return others + first + again

    folder = make_run(tmp_path / "r")
    before = select(load_run(folder)).valid
    rewrite(folder, twice)
    run = load_run(folder)
    after = select(run)
    assert len(after.valid) == len(before) == 30
    assert set(after.valid[after.valid["block"] == 2]["attempt"]) == {2}
    assert list(after.void["void"]) == ["steal 9 % > 5 %"]
    assert judge_run(run).void[0]["block"] == 2


def test_resumed_sample_counts_once(tmp_path):
    folder = make_run(tmp_path / "r")
    rewrite(folder, lambda records: [*records, {**records[5], "session": 2}])
    selection = select(load_run(folder))
    assert len(selection.valid) == 30
    assert "was measured again later" in selection.warnings[0]


def test_edited_experiment_is_shown(tmp_path):
    folder = make_run(tmp_path / "r")
    (folder / "experiment.json").write_text("{}")
    assert "experiment.json was edited after the run" in load_run(folder).warnings


def test_latency_percentiles_become_metrics(tmp_path):
    fake = Fake(change=lambda r: {**r, "record": {"latency_ns": {"p50": 10, "p99": 90}}})
    run = load_run(make_run(tmp_path / "r", fake))
    assert set(run.samples["latency_ns.p99"]) == {90.0}
