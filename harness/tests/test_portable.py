"""A result folder says nothing of the disk that it was made on, reads the same where it is moved to,
and knows its machine."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from conftest import BUILD, MISBEHAVE, ROOT, Hak

LIBRARY = BUILD / "core" / "libhakmem-lab.so"


def texts(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(errors="replace")
        for path in folder.rglob("*")
        if path.is_file() and path.name != "experiment.json"
    }


def test_no_path_of_this_machine_in_a_result(hak: Hak) -> None:
    arms = [
        {"name": "baseline", "library": str(LIBRARY)},
        {"name": "treatment", "library": "lab", "env": {"HAKMEM_REFILL_BATCH": "4"}},
    ]
    file = hak.experiment(MISBEHAVE, "environment", runs=1, arms=arms)
    content = json.loads(file.read_text())
    bench = {"name": "burst", "params": {"objects": 1000, "size": 32, "idle_ms": 0}}
    content["workloads"].append(bench)
    content["min_seconds"] = 0.02
    file.write_text(json.dumps(content))
    result = hak.run(file)
    assert result.folder is not None
    assert any(s["record"] for s in result.samples)
    found = texts(result.folder)
    assert {"manifest.json", "samples.jsonl"} < set(found)
    assert any(name.startswith("output/") for name in found)
    for name, text in found.items():
        for place in {str(ROOT), os.path.realpath(ROOT), str(hak.folder)}:
            assert place not in text, (name, text[max(0, text.index(place) - 80) :][:200])
    if BUILD == ROOT / "build" / "standard":
        assert result.manifest["arms"][0]["path"] == "build/standard/core/libhakmem-lab.so"


def test_a_moved_folder_is_analysed_to_the_same_verdict(hak: Hak) -> None:
    python = sys.executable
    result = hak.run(hak.experiment(MISBEHAVE, "work", 20, runs=3), HAK_PYTHON=python)
    assert result.folder is not None
    before = (result.folder / "verdict.json").read_text()
    moved = hak.folder / "else where"
    shutil.move(result.folder, moved)
    again = hak("report", moved, HAK_PYTHON=python)
    assert again.code == result.code, again.err
    assert (moved / "verdict.json").read_text() == before
    assert str(hak.folder) not in (moved / "report.md").read_text()


def test_the_fingerprint_is_made_of_what_makes_machines_alike(hak: Hak) -> None:
    result = hak.run(hak.experiment("/bin/true", runs=1))
    machine = result.manifest["machine"]
    identity = machine["fingerprint_of"]
    assert set(identity) == {"cpu", "cores", "kernel", "memory_gib", "libc", "virtualisation"}
    assert len(machine["fingerprint"]) == 16
    assert result.manifest["sessions"][0]["fingerprint"] == machine["fingerprint"]
    assert hak("run", "--resume", result.folder).code in (0, 12)


def test_a_run_of_another_machine_goes_on_by_force_only(hak: Hak) -> None:
    result = hak.run(hak.experiment("/bin/true", runs=1))
    assert result.folder is not None
    manifest = result.manifest
    manifest["machine"]["fingerprint_of"]["cores"] = 128
    (result.folder / "manifest.json").write_text(json.dumps(manifest))
    refused = hak("run", "--resume", result.folder)
    assert refused.code == 2 and "cores: 128 then" in refused.err and "--force" in refused.err
    assert len(refused.manifest["sessions"]) == 1
    forced = hak("run", "--resume", result.folder, "--force")
    assert forced.code == 0, forced.err
    assert forced.manifest["sessions"][1]["machine"]["cores"] != 128
    assert any("unlike machines" in notice for notice in forced.manifest["notices"])
