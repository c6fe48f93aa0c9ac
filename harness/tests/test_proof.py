"""Proof of execution with real processes: what did not run as wanted is no_proof, never slow."""

from __future__ import annotations

import pytest
from conftest import FAKE, MISBEHAVE, PROGRAMS, Hak, Result


def run_fake(hak: Hak, *command: object, **treatment: str) -> Result:
    command = command or (MISBEHAVE, "work", 60)
    return hak.run(hak.experiment(*command, runs=1, arms=hak.fake_arms(**treatment)))


def detail(result: Result, arm: str = "treatment") -> str:
    sample = next(s for s in result.samples if s["arm"] == arm)
    assert sample["status"] == "no_proof", sample["status"]
    assert not sample["proof"]["ok"]
    return str(sample["detail"])


def test_proven(hak: Hak) -> None:
    result = run_fake(hak)
    assert result.statuses() == {"ok"}, result.err
    for sample in result.samples:
        proof = sample["proof"]
        assert proof["mapped"] == FAKE.name and len(proof["sha256"]) == 64
        assert proof["report"]["boxes"]["HAKMEM_REFILL_BATCH"]["uses"] == 5
    arms = result.manifest["arms"]
    assert arms[0]["sha256"] == arms[1]["sha256"] == result.samples[0]["proof"]["sha256"]
    assert not any("A/A" in notice for notice in result.manifest["notices"])


def test_a_static_program_takes_no_preload(hak: Hak) -> None:
    text = detail(run_fake(hak, PROGRAMS / "misbehave-static", "work", 60))
    assert "is static" in text


def test_a_static_program_on_glibc_is_no_glibc_arm(hak: Hak) -> None:
    result = hak.run(hak.experiment(PROGRAMS / "misbehave-static", "work", 60, runs=1))
    assert "is static" in detail(result)


def test_a_box_that_is_not_as_wanted(hak: Hak) -> None:
    text = detail(run_fake(hak, FAKE_LIE="HAKMEM_REFILL_BATCH=16"))
    assert "HAKMEM_REFILL_BATCH is 16, wanted 1" in text


def test_a_box_that_was_never_used(hak: Hak) -> None:
    assert "never used" in detail(run_fake(hak, FAKE_USES="0"))


def test_another_variant(hak: Hak) -> None:
    assert "variant" in detail(run_fake(hak, FAKE_VARIANT="c7_ultra"))


def test_no_report(hak: Hak) -> None:
    assert "no report" in detail(run_fake(hak, FAKE_SILENT="1"))


def test_the_other_arm_is_not_blamed(hak: Hak) -> None:
    assert run_fake(hak, FAKE_SILENT="1").statuses("baseline") == {"ok"}


def bundled() -> str:
    path = PROGRAMS / "misbehave-jemalloc"
    if not path.exists():
        pytest.skip("no libjemalloc on this machine")
    return str(path)


def test_a_program_that_bundles_jemalloc_is_no_glibc_arm(hak: Hak) -> None:
    result = hak.run(hak.experiment(bundled(), "work", 60, runs=1))
    assert "libjemalloc" in detail(result)


def test_a_preload_goes_before_a_bundled_allocator(hak: Hak) -> None:
    result = run_fake(hak, bundled(), "work", 60)
    assert result.statuses() == {"ok"}, result.err
    assert any("libjemalloc" in note for s in result.samples for note in s["proof"]["notes"])


def test_a_library_that_is_replaced_during_the_run_is_noticed(hak: Hak) -> None:
    library = hak.folder / FAKE.name
    library.write_bytes(FAKE.read_bytes())
    arms = hak.fake_arms()
    for arm in arms:
        arm["library"] = str(library)
    command = f"touch {library}; exec {MISBEHAVE} work 60"
    result = hak.run(hak.experiment("/bin/sh", "-c", command, runs=1, arms=arms))
    assert any("has changed" in s["detail"] for s in result.samples)
