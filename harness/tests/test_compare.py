"""`hak compare`: an experiment of its own making, and libraries that fail in a cell."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from conftest import ABORTING, MISBEHAVE, Hak


def test_every_library_in_every_cell(hak: Hak) -> None:
    options: list[object] = ["--only", "random_mixed size=64", "--runs", 1, "--quick"]
    options += ["--results", hak.results, "--void-above", 100]  # others may work here meanwhile
    result = hak("compare", *options, "--lib", f"aborting={ABORTING}")
    assert result.code == 0, result.err
    assert "fake sweep" in result.out and result.folder is not None
    assert result.folder.parent.name == "compare"
    arms = {arm["name"] for arm in result.manifest["arms"]}
    assert {"glibc", "hakmem", "aborting"} <= arms
    cells = {"random_mixed size=64", "random_mixed size=64 latency"}
    assert Counter((s["cell"], s["arm"]) for s in result.samples) == {
        (cell, arm): 1 for cell in cells for arm in arms
    }
    assert result.statuses("aborting") == {"crash"}
    for arm in arms - {"aborting"}:
        assert result.statuses(arm) == {"ok"}
    timed = [s for s in result.samples if s["record"] and "latency" in s["cell"]]
    latency = {s["arm"]: s["record"]["latency_ns"] for s in timed}
    assert set(latency) == arms - {"aborting"}
    assert all(times["p99"] > 0 for times in latency.values())
    assert latency["hakmem"]["paths"]["fast"]["samples"] > 0
    assert latency["glibc"]["paths"] is None
    again = hak("compare", "--resume", result.folder)
    assert again.code == 0, again.err
    assert len(again.samples) == len(result.samples)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--only", "random_mixd"],
            'no such cell or workload; nearest is "random_mixed"',
        ),
        (["--only", "aligned"], "--all has more"),
        (["--lib", "mine"], "must be NAME=PATH"),
        (["--lib", "mine=/nowhere.so"], "there is no file /nowhere.so"),
        (["--lib", f"hakmem={ABORTING}"], 'a second arm with the name "hakmem"'),
        (["--lib", f"a b={ABORTING}"], "must be NAME=PATH"),
        (["--lib", f"mine={MISBEHAVE}.c"], "there is no file"),
    ],
)
def test_wrong_words_are_named_before_anything_runs(
    hak: Hak, options: list[str], words: str
) -> None:
    result = hak("compare", *options, "--results", hak.results)
    assert result.code == 2 and words in result.err, result.err
    assert result.err.count("\n") == 1 and result.folder is None


def test_a_library_that_fails_is_given_up_and_the_rest_goes_on(hak: Hak) -> None:
    arms = [{"name": name, "library": "glibc"} for name in ("baseline", "treatment")]
    arms.append({"name": "aborting", "library": str(ABORTING)})
    file = hak.experiment(MISBEHAVE, "work", 20, runs=6, arms=arms, report="compare")
    result = hak.run(file)
    assert result.code == 0, result.err
    assert Counter(s["arm"] for s in result.samples) == {
        "baseline": 6,
        "treatment": 6,
        "aborting": 3,
    }
    assert result.statuses("baseline") | result.statuses("treatment") == {"ok"}
    assert any("aborting was given up" in notice for notice in result.manifest["notices"])


def test_giving_up_is_the_same_after_a_stop(hak: Hak) -> None:
    arms = [{"name": name, "library": "glibc"} for name in ("baseline", "treatment")]
    arms.append({"name": "aborting", "library": str(ABORTING)})
    result = hak.run(hak.experiment(MISBEHAVE, "work", 20, runs=6, arms=arms, report="compare"))
    assert result.folder is not None
    samples = result.folder / "samples.jsonl"
    whole = samples.read_text().splitlines(keepends=True)
    samples.write_text("".join(whole[:10]))
    again = hak("run", "--resume", result.folder)
    assert again.code == 0, again.err
    assert [s["arm"] for s in again.samples if s["void"] is None][-6:] == [
        json.loads(line)["arm"] for line in whole[-6:]
    ]


def test_a_cell_may_take_fewer_blocks_and_have_a_name(hak: Hak) -> None:
    command = [str(MISBEHAVE), "work", "20"]
    workloads = [
        {"name": "program", "command": command, "cell": "long"},
        {"name": "program", "command": command, "cell": "short", "runs": 2},
    ]
    result = hak.run(hak.experiment(workloads=workloads, runs=3))
    assert Counter(s["cell"] for s in result.samples) == {"long": 6, "short": 4}
