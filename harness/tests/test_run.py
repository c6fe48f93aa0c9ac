"""A run from file to verdict: samples, order, environment, exit codes."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter

import pytest
from conftest import FAKE, MISBEHAVE, Hak


def test_a_run_gives_samples_manifest_and_verdict(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "work", 60, runs=3)
    result = hak.run(file)
    assert result.code == 0, result.err
    assert "fake: GO" in result.out and "report.md" in result.out
    samples = result.samples
    assert Counter(s["arm"] for s in samples) == {"baseline": 3, "treatment": 3}
    assert result.statuses() == {"ok"}
    for sample in samples:
        metrics = sample["metrics"]
        assert metrics["wall_s"] > 0.05 and metrics["peak_rss_kib"] > 0
        assert metrics["ops_per_s"] == pytest.approx(1 / metrics["wall_s"])
        assert sample["proof"]["ok"] and sample["proof"]["mapped"] == "libc.so.6"
        assert sample["checksum"] == hashlib.sha256(b"worked\n").hexdigest()[:16]
        for name, value in metrics.items():
            assert (value is None) == (name in sample["missing"]), name
    manifest = result.manifest
    assert manifest["status"] == "complete"
    assert manifest["experiment_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert [c["check"] for c in manifest["doctor"]]
    assert result.folder is not None
    assert (result.folder / "experiment.json").read_bytes() == file.read_bytes()


def test_peak_memory_is_the_childs_own(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "work", 50, runs=1))
    assert all(s["metrics"]["peak_rss_kib"] < 4096 for s in result.samples)


def test_a_a_is_announced(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "work", 50, runs=1))
    assert "A/A" in result.err
    assert any("A/A" in notice for notice in result.manifest["notices"])


def test_arms_share_names_and_size_and_nothing_leaks(hak: Hak) -> None:
    seen = hak.folder / "seen"
    seen.mkdir()
    command = f'cat /proc/$$/environ >"{seen}/$$"; exec {MISBEHAVE} work 30'
    file = hak.experiment(
        "/bin/sh", "-c", command, runs=1, arms=hak.fake_arms(), references=["glibc"]
    )
    # Counting instructions is a run of its own, under valgrind, which adds names.
    result = hak.run(file, "--no-code", LEAK="1", HAKMEM_PURGE_DELAY="7", LC_ALL="de_DE.UTF-8")
    environments = {}
    for path in seen.iterdir():
        lines = path.read_text().split("\0")[:-1]
        environment = dict(line.split("=", 1) for line in lines)
        arm = {"1": "treatment"}.get(environment["HAKMEM_REFILL_BATCH"], "baseline")
        environments[arm if environment["LD_PRELOAD"] else "glibc"] = environment
    assert set(environments) == {"baseline", "treatment", "glibc"}
    names = {frozenset(environment) for environment in environments.values()}
    assert len(names) == 1
    assert len({sum(map(len, e.values())) for e in environments.values()}) == 1
    assert environments["baseline"]["HAKMEM_REFILL_BATCH"] == "16"
    assert environments["treatment"]["HAKMEM_REFILL_BATCH"] == "1"
    assert environments["treatment"]["LC_ALL"] == "C"
    assert environments["treatment"]["HAKMEM_STRICT"] == "1"
    assert environments["treatment"]["LD_PRELOAD"] == os.path.realpath(FAKE)
    assert environments["glibc"]["LD_PRELOAD"] == ""
    allowed = set(result.manifest["environment"]["allow_list"])
    own = {"HAKMEM_STRICT", "HAKMEM_REPORT", "HAKMEM_REFILL_BATCH", "LD_PRELOAD", "HAK_PAD"}
    assert set(environments["baseline"]) == allowed | own


def test_arguments_reach_the_program_unchanged(hak: Hak) -> None:
    words = ["a b", "", "'", '"', ";", "*", "$HOME", "\\", "--", "ä", "line\nend"]
    result = hak.run(hak.experiment(MISBEHAVE, "arguments", *words, runs=1))
    shown = "".join(f"<{word}>\n" for word in [str(MISBEHAVE), "arguments", *words])
    assert {s["checksum"] for s in result.samples} == {
        hashlib.sha256(shown.encode()).hexdigest()[:16]
    }


def test_order_is_seeded_and_balanced(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "work", 30, runs=6))
    slots = Counter((s["arm"], s["slot"]) for s in result.samples)
    assert set(slots.values()) == {3}
    assert {s["seed"] for s in result.samples} == {42, 43}


def test_a_library_behind_a_blank_is_preloaded(hak: Hak) -> None:
    place = hak.folder / "a place: here"
    place.mkdir()
    library = place / FAKE.name
    library.write_bytes(FAKE.read_bytes())
    arms = hak.fake_arms()
    for arm in arms:
        arm["library"] = str(library)
    result = hak.run(hak.experiment(MISBEHAVE, "work", 50, runs=1, arms=arms))
    assert result.statuses() == {"ok"}, result.err


@pytest.mark.parametrize(
    ("decision", "gate", "code"),
    [
        ("GO", "undecided", 0),
        ("NO-GO", None, 0),
        ("NO-GO", "no-go", 10),
        ("NO-GO (guard)", "undecided", 10),
        ("UNDECIDED", "no-go", 0),
        ("UNDECIDED", "undecided", 11),
        ("INVALID", None, 12),
        ("NEUTRAL", "undecided", 0),
    ],
)
def test_exit_codes_of_verdicts(hak: Hak, decision: str, gate: str | None, code: int) -> None:
    options = ["--gate", gate] if gate else []
    file = hak.experiment("/bin/true", runs=1)
    assert hak.run(file, *options, FAKE_DECISION=decision).code == code


def test_analysis_that_fails_loses_no_sample(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "work", 50, runs=1), HAK_PYTHON="/no/python")
    assert result.code == 3
    assert len(result.samples) == 2 and result.manifest["status"] == "complete"
    assert "hak report" in result.err


def test_restricted_affinity_is_kept(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "work", 50, runs=1)
    cpu = min(os.sched_getaffinity(0))
    process = hak.start(
        "run",
        file,
        "--results",
        hak.results,
        preexec_fn=lambda: os.sched_setaffinity(0, {cpu}),
    )
    assert process.wait(60) == 0
    folder = hak.newest()
    assert folder is not None
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["machine"]["allowed_cpus"] == [cpu]
    assert any("one CPU" in notice for notice in manifest["notices"])


def test_a_preload_of_the_caller_is_removed_with_a_warning(hak: Hak) -> None:
    result = hak("boxes", LD_PRELOAD=str(FAKE))
    assert result.code == 0
    assert "LD_PRELOAD" in result.err and "removed" in result.err


def test_earlier_results_are_shown(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "work", 20, runs=1)
    hak.run(file)
    assert "earlier: t/" in hak.run(file).err


def test_quick_says_that_it_decides_nothing(hak: Hak) -> None:
    result = hak.run(hak.experiment("/bin/true", runs=9), "--quick")
    assert result.manifest["experiment"]["runs"] == 3
    assert any("--quick" in notice for notice in result.manifest["notices"])


def test_a_busy_machine_voids_blocks_and_ends(hak: Hak) -> None:
    limits = {"steal_pct": 100, "foreign_load_pct": 0}
    file = hak.experiment("/bin/sh", "-c", "exec sleep 0.3", runs=2, void_limits=limits)
    cpu = max(os.sched_getaffinity(0))
    burner = os.fork()
    if burner == 0:
        os.sched_setaffinity(0, {cpu})
        while True:
            pass
    try:
        result = hak.run(file)
    finally:
        os.kill(burner, 9)
        os.waitpid(burner, 0)
    samples = result.samples
    assert samples and all("foreign load" in s["void"] for s in samples)
    assert max(s["attempt"] for s in samples) <= 3
    assert any("too busy" in notice for notice in result.manifest["notices"])
