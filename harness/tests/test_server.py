"""A server as a workload: the shell that starts it becomes it, and the proof looks at the server."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import FAKE, MISBEHAVE, ROOT, Hak

NEEDED = [shutil.which(name) for name in ("redis-server", "redis-cli", "redis-benchmark")]


def served(hak: Hak, script: str, process: str, **changes: object) -> Path:
    entry = {"name": "program", "cell": "server", "process": process}
    entry["command"] = ["/bin/sh", "-c", script]  # type: ignore[assignment]
    return hak.experiment(workloads=[entry], runs=1, **changes)


def test_the_proof_looks_at_what_the_shell_became(hak: Hak) -> None:
    script = f"sleep 0.1; exec {MISBEHAVE} work 200"
    result = hak.run(served(hak, script, str(MISBEHAVE), arms=hak.fake_arms()))
    assert result.statuses() == {"ok"}, result.err


def test_a_shell_that_never_became_the_server_proves_nothing(hak: Hak) -> None:
    result = hak.run(served(hak, f"{MISBEHAVE} work 50; true", str(MISBEHAVE)))
    assert result.statuses() == {"no_proof"}
    assert "not misbehave" in result.samples[0]["detail"]


def test_a_library_beside_the_arms(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "work", 30, runs=1)
    result = hak.run(file, "--lib", f"other={FAKE}", "--lib", "preloaded=libc")
    assert result.code == 0, result.err
    assert {s["arm"] for s in result.samples} == {
        "baseline",
        "treatment",
        "other",
        "preloaded",
    }
    proofs = {s["arm"]: s["proof"] for s in result.samples}
    assert proofs["other"]["mapped"] == FAKE.name and proofs["other"]["sha256"]
    assert proofs["preloaded"]["mapped"] == "libc.so.6" and proofs["preloaded"]["sha256"]
    assert result.folder is not None
    again = hak("run", "--resume", result.folder)
    assert again.code == 0 and len(again.samples) == 4, again.err


@pytest.mark.skipif(None in NEEDED, reason="redis is not installed")
def test_redis_answers_alike_under_every_allocator(hak: Hak) -> None:
    arms = [
        {"name": "glibc", "library": "libc"},
        {"name": "hakmem", "library": "standard"},
        {"name": "none", "library": "glibc", "role": "reference"},
    ]
    entry = {
        "name": "program",
        "cell": "redis",
        "command": ["/bin/sh", str(ROOT / "experiments/programs/redis.sh")],
        "process": "/usr/bin/redis-server",
        "threads": 2,
    }
    result = hak.run(hak.experiment(workloads=[entry], arms=arms, references=[], runs=1))
    assert result.statuses("glibc") == result.statuses("hakmem") == {"ok"}, result.err
    linked = next(s for s in result.samples if s["arm"] == "none")
    if "libjemalloc" in str(linked["proof"]):
        assert linked["status"] == "no_proof" and "name the path of libc.so.6" in linked["detail"]
    assert len({s["checksum"] for s in result.samples if s["status"] == "ok"}) == 1
