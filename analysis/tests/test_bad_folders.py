"""Result folders that are cut, damaged, of another version or with pieces missing: refused by name or
degraded, and never a NaN in a report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Callable

import pytest
from synthetic import Fake, make_run

from hakmem_analysis.cli import main

NOT_A_NUMBER = re.compile(r"\b(nan|NaN|inf|Infinity|None|NaT)\b")


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]


def write_lines(folder: Path, records: list[dict[str, Any]]) -> None:
    (folder / "samples.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))


def manifest(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def no_metrics(folder: Path) -> None:
    records = lines_of(folder)
    for record in records:
        record["metrics"] = {name: None for name in record["metrics"]}
    write_lines(folder, records)


def all_equal(folder: Path) -> None:
    records = lines_of(folder)
    for record in records:
        record["metrics"].update(ops_per_s=5.0e7, ns_per_op=20.0, peak_rss_kib=2048)
    write_lines(folder, records)


def zero(folder: Path) -> None:
    records = lines_of(folder)
    records[0]["metrics"]["ops_per_s"] = 0.0
    write_lines(folder, records)


def without_arm(folder: Path) -> None:
    write_lines(folder, [r for r in lines_of(folder) if r["arm"] != "treatment"])


def all_failed(folder: Path) -> None:
    write_lines(folder, [{**r, "status": "crash", "signal": 11} for r in lines_of(folder)])


def all_void(folder: Path) -> None:
    write_lines(folder, [{**r, "void": "steal 9 %"} for r in lines_of(folder)])


def cut(count: int) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "samples.jsonl"
        path.write_bytes(path.read_bytes()[:count])

    return change


DEGRADED: dict[str, Callable[[Path], None]] = {
    "no metrics": no_metrics,
    "all values equal": all_equal,
    "a value of zero": zero,
    "an arm without samples": without_arm,
    "a cell without samples": lambda f: write_lines(
        f, [r for r in lines_of(f) if r["cell"] != "larson"]
    ),
    "the deciding cell without samples": lambda f: write_lines(
        f, [r for r in lines_of(f) if r["cell"] == "larson"]
    ),
    "one block": lambda f: write_lines(f, [r for r in lines_of(f) if r["block"] == 0]),
    "two blocks": lambda f: write_lines(f, [r for r in lines_of(f) if r["block"] < 2]),
    "every run failed": all_failed,
    "every block void": all_void,
    "an empty file": cut(0),
    "a cut in the first record": cut(100),
    "a cut later": cut(20001),
    "no proof": lambda f: write_lines(f, [{**r, "proof": None} for r in lines_of(f)]),
    "no machine": lambda f: manifest(f, lambda m: m.pop("machine")),
    "no build, git, doctor": lambda f: manifest(
        f, lambda m: [m.pop(key) for key in ("build", "git", "doctor")]
    ),
    "no sessions": lambda f: manifest(f, lambda m: m.pop("sessions")),
    "no forecast": lambda f: manifest(f, lambda m: m["experiment"].pop("forecast")),
    "null sections": lambda f: manifest(
        f, lambda m: m.update(machine=None, build=None, git=None, notices=None, observe=None)
    ),
    "run of another hak, unknown keys": lambda f: manifest(f, lambda m: m.update(new_key={"a": 1})),
}


@pytest.mark.parametrize("status", ["complete", "interrupted"])
@pytest.mark.parametrize("name", DEGRADED)
def test_what_is_missing_degrades_the_report_and_puts_no_nan_in_it(tmp_path, name, status):
    folder = make_run(tmp_path / "r", Fake(cells=("random_mixed", "larson"), status=status))
    DEGRADED[name](folder)
    assert main(["report", str(folder)]) in (0, 12)
    text = (folder / "report.md").read_text("utf-8")
    assert not NOT_A_NUMBER.search(text), name
    content = (folder / "verdict.json").read_text("utf-8")
    assert not re.search(r"NaN|Infinity", content)
    assert json.loads(content)["decision"]
    for figure in (folder / "plots").glob("*.svg"):
        assert not re.search(r"[\"\s,]nan[\"\s,]", figure.read_text("utf-8")), figure.name


REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "of a later format": (lambda f: manifest(f, lambda m: m.update(format=9)), "has format 9"),
    "no format": (lambda f: manifest(f, lambda m: m.pop("format")), "has no 'format'"),
    "manifest cut": (
        lambda f: (f / "manifest.json").write_text((f / "manifest.json").read_text()[:200]),
        "manifest.json",
    ),
    "manifest empty": (lambda f: (f / "manifest.json").write_text(""), "manifest.json"),
    "manifest gone": (lambda f: (f / "manifest.json").unlink(), "no such file"),
    "no arms": (lambda f: manifest(f, lambda m: m.pop("arms")), "'arms'"),
    "arms of the wrong type": (lambda f: manifest(f, lambda m: m.update(arms=7)), "'arms'"),
    "an arm that is a text": (lambda f: manifest(f, lambda m: m.update(arms=["a"])), "manifest"),
    "no cells": (lambda f: manifest(f, lambda m: m.update(cells=[])), "lists no cell"),
    "a cell that is a number": (lambda f: manifest(f, lambda m: m.update(cells=[1])), "manifest"),
    "experiment of the wrong type": (
        lambda f: manifest(f, lambda m: m.update(experiment=[])),
        "'experiment'",
    ),
    "threshold of the wrong type": (
        lambda f: manifest(f, lambda m: m["experiment"].update(neutral_threshold_pct="x")),
        "manifest",
    ),
    "looks that fall": (
        lambda f: manifest(f, lambda m: m["experiment"].update(until_decided=True, looks=[20, 10])),
        "looks",
    ),
    "damage in the middle": (
        lambda f: (f / "samples.jsonl").write_text(
            (f / "samples.jsonl").read_text().replace('"cell"', '"sell"', 1)
        ),
        "samples.jsonl:1",
    ),
    "samples of another run": (
        lambda f: write_lines(f, [{**r, "arm": "other"} for r in lines_of(f)]),
        "not in the manifest",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_by_name_and_leaves_no_report(capsys, tmp_path, name):
    folder = make_run(tmp_path / "r")
    change, message = REFUSED[name]
    change(folder)
    assert main(["report", str(folder)]) == 4
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and str(folder) in error
    assert not (folder / "report.md").exists() and not (folder / "verdict.json").exists()
