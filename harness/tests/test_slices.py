"""Slices mode and `hak burn`: both arms in turns inside one process of the lab library."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import BUILD, Hak

LAB = BUILD / "core" / "libhakmem-lab.so"
HAKBENCH = BUILD / "harness" / "hakbench" / "hakbench"
SMALL = {"name": "random_mixed", "params": {"ops": 20000}}
SHORT = {"processes": 2, "seconds": 0.15, "slice_ms": 1}
C7 = {"HAKMEM_C7_ULTRA": "1"}
DEPCHAIN = "HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN_OPT"


def experiment(hak: Hak, **changes: Any) -> Path:
    """Two arms of the lab library that differ in the box burn, in short slices."""
    keys: dict[str, Any] = {
        "arms": [
            {"name": "off", "library": "lab", "env": {"HAKMEM_BURN": 0}},
            {"name": "on", "library": "lab", "env": {"HAKMEM_BURN": 4000}},
        ],
        "workloads": [SMALL],
        "mode": "slices",
        "slices": SHORT,
    }
    keys.update(changes)
    return hak.experiment("unused", **keys)


def arms(first: dict[str, str], second: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"name": "off", "library": "lab", "env": first},
        {"name": "on", "library": "lab", "env": second},
    ]


def orders(pieces: list[dict[str, Any]]) -> list[str]:
    """The order of the arms in each group of four, by first letters of "off" and "on"."""
    letters = "".join("A" if piece["arm"] == "off" else "B" for piece in pieces)
    return [letters[i : i + 4] for i in range(0, len(letters), 4)]


def test_a_process_holds_both_arms_in_turns(hak: Hak) -> None:
    result = hak.run(experiment(hak))
    assert result.code == 0, result.err
    assert result.manifest["experiment"]["mode"] == "slices"
    assert len(result.samples) == SHORT["processes"]
    for block, sample in enumerate(result.samples):
        assert (sample["arm"], sample["block"], sample["status"]) == ("slices", block, "ok")
        record = sample["record"]
        assert set(orders(record["slices"])) <= {"ABBA", "BAAB"}
        for piece in record["slices"] + record["slices_aa"]:
            assert piece["ops"] > 0 and piece["seconds"] > 0
        proof = record["slices_proof"]
        assert proof["off"]["uses"]["HAKMEM_BURN"] > 0
        assert proof["on"]["uses"]["HAKMEM_BURN"] > 0
        # the process ends as the baseline, which its report then proves
        assert sample["proof"]["report"]["boxes"]["HAKMEM_BURN"]["value"] == 0


def test_the_burnt_side_is_slower(hak: Hak) -> None:
    """4000 cycles each two microseconds: a factor, which no noise hides."""
    record = hak.run(experiment(hak)).samples[0]["record"]
    rate = {
        arm: sum(p["ops"] for p in record["slices"] if p["arm"] == arm)
        / sum(p["seconds"] for p in record["slices"] if p["arm"] == arm)
        for arm in ("off", "on")
    }
    assert rate["on"] < rate["off"]


def test_shape_boxes_are_switched_by_their_entries(hak: Hak) -> None:
    env = {**C7, DEPCHAIN: "0"}, {**C7, DEPCHAIN: "1"}
    result = hak.run(experiment(hak, arms=arms(*env)))
    assert result.code == 0, result.err
    for sample in result.samples:
        assert sample["status"] == "ok", sample["detail"]
        proof = sample["record"]["slices_proof"]
        assert proof["off"]["variant"] == "c7_ultra"
        assert proof["on"]["variant"] == "c7_ultra_alloc_depchain_opt"


def test_threads_wait_at_the_barrier(hak: Hak) -> None:
    workload = {"name": "remote", "params": {"ops": 20000, "threads": 3}}
    result = hak.run(experiment(hak, workloads=[workload]))
    assert result.code == 0, result.err
    assert result.statuses() == {"ok"}


CHURN = {"name": "thread_churn", "params": {"rounds": 5, "threads": 2}}


def test_threads_that_come_and_go(hak: Hak) -> None:
    batch = arms({"HAKMEM_REFILL_BATCH": "16"}, {"HAKMEM_REFILL_BATCH": "1"})
    result = hak.run(experiment(hak, arms=batch, workloads=[CHURN]))
    assert result.code == 0, result.err
    assert result.statuses() == {"ok"}


def test_a_box_that_no_slice_used_is_no_proof(hak: Hak) -> None:
    """Blocks of whole slices never go through a bin, whose credit could expire."""
    large = {"ops": 100, "slots": 4, "min": 1 << 16, "max": 1 << 18, "grow": 0}
    result = hak.run(experiment(hak, workloads=[{"name": "large", "params": large}]))
    assert result.statuses() == {"no_proof"}
    assert "never used in the slices of on (0 credit expiries)" in result.samples[0]["detail"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"arms": arms({}, C7)}, "HAKMEM_C7_ULTRA cannot be switched in a running process"),
        (
            {
                "arms": [
                    {"name": "off", "library": "lab"},
                    {"name": "on", "library": "glibc"},
                ]
            },
            "the arm on is not served by the library",
        ),
        ({"workloads": [{"name": "program", "command": ["true"]}]}, "no workload of hakbench"),
        ({"metric": {"name": "peak_rss_kib", "direction": "lower"}}, "cannot be told apart"),
        ({"slices": {"second": 1}}, "second"),
        ({"mode": "slice"}, "slice"),
    ],
    ids=["boot box", "library", "program", "metric", "key", "mode"],
)
def test_what_slices_cannot_do_is_refused(hak: Hak, changes: Any, reason: str) -> None:
    result = hak.run(experiment(hak, **changes))
    assert result.code == 2
    assert reason in result.err and result.err.count("\n") == 1, result.err
    assert result.folder is None


def test_the_option_turns_an_experiment_to_slices(hak: Hak) -> None:
    file = experiment(hak, mode="process", references=["glibc"])
    result = hak.run(file, "--mode", "slices", "--runs", "1")
    assert result.code == 0, result.err
    assert [sample["arm"] for sample in result.samples] == ["slices"]
    assert "runs no references" in result.err
    assert "no result of this comparison in process mode" in result.err


def test_the_process_mode_result_is_held_beside(hak: Hak) -> None:
    file = experiment(hak, mode="process", min_seconds=0.01, runs=1)
    first = hak.run(file, FAKE_DECISION="NO-GO")
    assert first.folder is not None and first.code == 0, first.err
    first.folder.rename(first.folder.with_name("20200101-000000"))
    second = hak.run(file, "--mode", "slices", "--runs", "1")
    assert second.manifest["process_mode"] == {"run": "t/20200101-000000", "decision": "NO-GO"}


def bench(*options: str, preload: Path | None = LAB) -> subprocess.CompletedProcess[str]:
    env = {} if preload is None else {"LD_PRELOAD": str(preload)}
    return subprocess.run(
        [HAKBENCH, "random_mixed", "--ops", "1000", "--slices-seconds", "0", *options],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a:HAKMEM_BURN=1", "needs two sides"),
        ("a/b", "is not NAME:BOX=VALUE"),
        ("a:HAKMEM_BURN/b:", "is not BOX=VALUE"),
        ("a:HAKMEM_BURN=x/b:", "is not a whole number"),
        ("a:HAKMEM_BURN=-1/b:", "cannot be set"),
        ("a:HAKMEM_NONE=1/b:", "cannot be set"),
        ("a:HAKMEM_C7_ULTRA=1/b:", "cannot be set"),
    ],
)
def test_bad_slices_are_one_line(text: str, reason: str) -> None:
    done = bench("--slices", text)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("hakbench: ") and reason in done.stderr
    assert done.stderr.count("\n") == 1


def test_slices_need_the_lab_library() -> None:
    done = bench("--slices", "a:/b:", preload=None)
    assert done.returncode == 2 and "preload libhakmem-lab.so" in done.stderr


def test_one_group_is_there_however_short_the_time() -> None:
    done = bench("--slices", "off:HAKMEM_BURN=0/on:HAKMEM_BURN=8", "--min-seconds", "0")
    record = json.loads(done.stdout)
    assert orders(record["slices"]) == ["ABBA"] and record["slices_aa"] == []


def test_burn_gives_rising_values_and_experiments(hak: Hak, tmp_path: Path) -> None:
    out = tmp_path / "made"
    result = hak("burn", "random_mixed", "--percent", "10", "--percent", "50",
                 "--seconds", "0.05", "--out", out)  # fmt: skip
    assert result.code == 0, result.err
    values = []
    for name in ("burn_10", "burn_50"):
        text = (out / f"{name}.json").read_text()
        content = json.loads("\n".join(text.splitlines()[1:]))
        assert content["phase"] == name and content["box"] == "HAKMEM_BURN"
        assert content["values"][0] == 0
        values.append(content["values"][1])
        assert f"HAKMEM_BURN={values[-1]}" in result.out
    assert 0 < values[0] < values[1]
    assert "a credit expiry each" in result.out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["no_workload"], "no_workload"),
        (["random_mixed", "opps=3"], "opps"),
        (["random_mixed", "ops"], "is not NAME=VALUE"),
        (["large", "ops=10"], "never used (0 credit expiries)"),
    ],
)
def test_burn_says_what_is_wrong(hak: Hak, arguments: list[str], reason: str) -> None:
    result = hak("burn", *arguments, "--percent", "1", "--seconds", "0.02")
    assert result.code != 0 and reason in result.err and result.err.count("\n") == 1
