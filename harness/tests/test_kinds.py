"""The kinds of fault that benchmark harnesses have had in public, each with the tests that show that it
cannot happen here. All of them start real processes."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, FAKE, MISBEHAVE, PROGRAMS, ROOT, Hak, Result, read_samples

KINDS: dict[str, list[str]] = {
    "01 variables leak in, or the wanted one is missing": [
        "test_run.py::test_arms_share_names_and_size_and_nothing_leaks",
    ],
    "02 the preload did not apply": [
        "test_proof.py::test_a_static_program_takes_no_preload",
        "test_proof.py::test_a_program_that_bundles_jemalloc_is_no_glibc_arm",
        "test_proof.py::test_no_report",
    ],
    "03 one failing run loses the matrix": [
        "test_faults.py::test_a_crash_is_kept_and_other_cells_go_on",
    ],
    "04 a failed run counts as a fast one": [
        "test_faults.py::test_a_timeout_does_not_count_as_fast",
        "test_kinds.py::test_k04_a_crash_enters_no_ratio_and_is_counted",
    ],
    "05 a timeout kills the direct child only": [
        "test_faults.py::test_grandchildren_in_their_own_session_die_too",
        "test_faults.py::test_a_pipe_held_open_by_a_grandchild_does_not_hang",
    ],
    "06 the clock steps": ["test_kinds.py::test_k06_durations_do_not_follow_a_stepping_clock"],
    "07 one sample": ["test_kinds.py::test_k07_one_block_has_no_deviation_and_no_interval"],
    "08 all samples equal": [
        "test_kinds.py::test_k08_equal_arms_are_neutral",
        "test_kinds.py::test_k08_different_constants_are_a_difference",
    ],
    "09 arguments with blanks, quotes, ; and *": [
        "test_run.py::test_arguments_reach_the_program_unchanged",
    ],
    "10 a result file cut at any byte, or damaged": [
        "test_stops.py::test_damage_in_the_middle_names_the_line",
        "test_kinds.py::test_k10_resume_after_a_cut_anywhere",
        "test_kinds.py::test_k10_resume_after_a_cut_at_many_bytes",
    ],
    "11 disk full, file size limit": [
        "test_stops.py::test_a_full_disk_keeps_what_was_written",
        "test_stops.py::test_a_file_size_limit_keeps_what_was_written",
    ],
    "12 Ctrl-C at any moment, twice": [
        "test_stops.py::test_signals_at_random_moments",
        "test_stops.py::test_a_signal_ends_it_with_valid_files",
    ],
    "13 perf missing or forbidden": [
        "test_kinds.py::test_k13_forbidden_counters_are_null_with_perfs_reason",
        "test_kinds.py::test_k13_never_sudo_never_sysctl",
    ],
    "14 affinity restricted from outside": ["test_run.py::test_restricted_affinity_is_kept"],
    "15 both arms are the same binary, or the tree was dirty": [
        "test_run.py::test_a_a_is_announced",
        "test_kinds.py::test_k15_two_names_of_one_file_are_announced",
        "test_kinds.py::test_k15_a_dirty_tree_is_recorded",
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_tests_that_exist(kind: str) -> None:
    for name in KINDS[kind]:
        file, _, test = name.partition("::")
        text = (Path(__file__).parent / file).read_text()
        assert f"\ndef {test}(" in text, name


def verdict(hak: Hak, folder: Path | None) -> dict[str, Any]:
    """Analyses a folder by the real analysis."""
    assert folder is not None
    done = hak("report", folder, HAK_PYTHON=sys.executable)
    assert done.code in (0, 12), done.err
    report = (folder / "report.md").read_text()
    assert not re.search(r"\bnan\b", report, re.IGNORECASE)
    loaded: dict[str, Any] = json.loads((folder / "verdict.json").read_text())
    return loaded


def test_k04_a_crash_enters_no_ratio_and_is_counted(hak: Hak) -> None:
    mark = hak.folder / "crash now"
    command = f'{MISBEHAVE} work 30; [ -e "{mark}" ] && kill -SEGV $$; touch "{mark}"'
    result = hak.run(hak.experiment("/bin/sh", "-c", command, runs=2))
    statuses = sorted(s["status"] for s in result.samples)
    assert statuses == ["crash", "crash", "crash", "ok"]
    assert all(s["metrics"]["ops_per_s"] is None for s in result.samples if s["status"] != "ok")
    found = verdict(hak, result.folder)
    assert found["decision"] == "INVALID" and found["evidence"]["delta_pct"] is None
    assert result.folder is not None
    assert "1 of 4 runs ended ok" in (result.folder / "report.md").read_text()


def test_k06_durations_do_not_follow_a_stepping_clock(hak: Hak) -> None:
    program = PROGRAMS / "hak-stepped-clock"
    place = hak.folder / "build" / "harness"
    place.mkdir(parents=True)
    shutil.copy(program, place / "hak")
    for name in ("spawn", "hakbench"):
        (place / name).symlink_to(BUILD / "harness" / name)
    file = hak.experiment(MISBEHAVE, "work", 60, runs=3)
    content = json.loads(file.read_text())
    bench = {"name": "burst", "params": {"objects": 1000, "size": 32, "idle_ms": 0}}
    content["workloads"].append(bench)
    content["min_seconds"] = 0.05
    file.write_text(json.dumps(content))
    done = subprocess.run(
        [place / "hak", "run", file, "--results", hak.results],
        env=hak.env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    folder = hak.newest()
    assert folder is not None
    samples = read_samples(folder)
    started = [s["started"] for s in samples]
    assert started != sorted(started), "the clock did not step"
    for sample in samples:
        assert sample["status"] == "ok"
        assert 0.02 < sample["metrics"]["wall_s"] < 60
        assert 0 <= sample["metrics"]["psi_cpu_pct"] <= 100 * os.cpu_count()  # type: ignore[operator]


def test_k07_one_block_has_no_deviation_and_no_interval(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "work", 30, runs=1))
    found = verdict(hak, result.folder)
    assert found["decision"] == "UNDECIDED" and found["evidence"]["text"] == "not enough runs"
    assert found["evidence"]["ci95_pct"] is None and found["evidence"]["sd_pct"] is None
    assert all(arm["sd"] is None for arm in found["arms"].values())


def constant(hak: Hak, treatment: float) -> dict[str, Any]:
    """The verdict of a real run whose arms had the same rate in every block."""
    result = hak.run(hak.experiment(MISBEHAVE, "work", 20, runs=6))
    assert result.folder is not None
    records = result.samples
    for record in records:
        rate = treatment if record["arm"] == "treatment" else 50.0
        record["metrics"].update(ops_per_s=rate)
    text = "".join(json.dumps(record) + "\n" for record in records)
    (result.folder / "samples.jsonl").write_text(text)
    return verdict(hak, result.folder)


def test_k08_equal_arms_are_neutral(hak: Hak) -> None:
    found = constant(hak, 50.0)
    assert found["decision"] == "NEUTRAL" and found["evidence"]["ci95_pct"] == [0.0, 0.0]


def test_k08_different_constants_are_a_difference(hak: Hak) -> None:
    assert constant(hak, 60.0)["decision"] == "STRONG GO"


def cut_and_resume(hak: Hak, folder: Path, whole: bytes, length: int) -> Result:
    (folder / "samples.jsonl").write_bytes(whole[:length])
    again = hak("run", "--resume", folder)
    assert again.code == 0, (length, again.err)
    kept = [s for s in again.samples if s["void"] is None]
    runs = sorted((s["block"], s["arm"]) for s in kept)
    assert runs == [(block, arm) for block in range(2) for arm in ("baseline", "treatment")], length
    return again


def test_k10_resume_after_a_cut_anywhere(hak: Hak) -> None:
    result = hak.run(hak.experiment("/bin/true", runs=2))
    assert result.folder is not None
    whole = (result.folder / "samples.jsonl").read_bytes()
    ends = [match.end() for match in re.finditer(b"\n", whole)]
    middle = random.Random(1).sample(range(1, len(whole)), 3)
    for length in (0, 1, ends[0] - 1, ends[0], ends[1], ends[2] + 1, len(whole) - 1, *middle):
        cut_and_resume(hak, result.folder, whole, length)


@pytest.mark.slow
def test_k10_resume_after_a_cut_at_many_bytes(hak: Hak) -> None:
    """A hundred cuts; the unit tests of the samples' file cut at each byte."""
    result = hak.run(hak.experiment("/bin/true", runs=2))
    assert result.folder is not None
    whole = (result.folder / "samples.jsonl").read_bytes()
    for length in sorted(random.Random(2).sample(range(len(whole)), 100)):
        cut_and_resume(hak, result.folder, whole, length)


PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}


def forbid_perf() -> None:
    """Answers perf_event_open with EACCES, in this process and all that it starts."""
    allow, refuse = 0x7FFF0000, 0x00050000 | 13
    number = PERF_EVENT_OPEN[platform.machine()]
    program = b"".join(
        struct.pack("HBBI", *instruction)
        for instruction in (
            (0x20, 0, 0, 0),  # the system call's number
            (0x15, 0, 1, number),
            (0x06, 0, 0, refuse),
            (0x06, 0, 0, allow),
        )
    )
    buffer = ctypes.create_string_buffer(program)

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]

    libc = ctypes.CDLL(None, use_errno=True)
    filter_ = Filter(4, ctypes.addressof(buffer))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(filter_), 0, 0):
        os._exit(99)


def test_k13_forbidden_counters_are_null_with_perfs_reason(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "work", 30, runs=1)
    process = hak.start("run", file, "--results", hak.results, preexec_fn=forbid_perf)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    folder = hak.newest()
    assert folder is not None
    for sample in read_samples(folder):
        assert sample["status"] == "ok" and sample["metrics"]["wall_s"] > 0.02
        for name in ("instructions", "cycles", "cache_misses"):
            assert sample["metrics"][name] is None
            assert sample["missing"][name] == "perf_event_open: Permission denied"


def test_k13_never_sudo_never_sysctl(hak: Hak) -> None:
    own, mark = hak.folder / "bin", hak.folder / "called"
    own.mkdir()
    for name in ("sudo", "sysctl", "cpupower", "su", "doas"):
        (own / name).write_text(f"#!/bin/sh\necho {name} >>'{mark}'\n")
        (own / name).chmod(0o755)
    path = f"{own}:{hak.env['PATH']}"
    assert "you may type" in hak("doctor", PATH=path).out
    assert hak.run(hak.experiment("/bin/true", runs=1), PATH=path).code == 0
    assert not mark.exists()


def test_k15_two_names_of_one_file_are_announced(hak: Hak) -> None:
    copy = hak.folder / "libhakmem_other.so"
    shutil.copy(FAKE, copy)
    arms = [{"name": "baseline", "library": str(FAKE)}, {"name": "treatment", "library": str(copy)}]
    result = hak.run(hak.experiment(MISBEHAVE, "work", 30, runs=1, arms=arms))
    assert "A/A" in result.err or "the same file (sha256)" in result.err
    assert len({arm["sha256"] for arm in result.manifest["arms"]}) == 1


@pytest.mark.parametrize("is_dirty", [False, True])
def test_k15_a_dirty_tree_is_recorded(hak: Hak, is_dirty: bool) -> None:
    root = hak.folder / "root"
    (root / "boxes").mkdir(parents=True)
    shutil.copy(ROOT / "boxes/boxes.def", root / "boxes/boxes.def")
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", root, *words], check=True, env=hak.env)
    if is_dirty:
        (root / "new file").write_text("x")
    result = hak.run(hak.experiment("/bin/true", runs=1), HAK_ROOT=str(root))
    git = result.manifest["git"]
    assert len(git["commit"]) == 40 and git["dirty"] is is_dirty
