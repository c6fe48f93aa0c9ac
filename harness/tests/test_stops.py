"""Ctrl-C at any moment, kills, resuming, and a second run on the same machine."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import FAKE, MISBEHAVE, Hak, read_samples
from test_faults import left_alive


def wait_for_samples(hak: Hak, count: int) -> Path:
    """Waits until the newest result holds `count` samples."""
    for _ in range(600):
        folder = hak.newest()
        if folder is not None and (folder / "samples.jsonl").exists():
            if (folder / "samples.jsonl").read_bytes().count(b"\n") >= count:
                return folder
        time.sleep(0.05)
    raise AssertionError("no samples came")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_valid_files(hak: Hak, number: int) -> None:
    mark = str(hak.folder / "mark")
    file = hak.experiment(MISBEHAVE, "hang-with-grandchild", mark, timeout_seconds=60)
    process = hak.start("run", file, "--results", hak.results)
    while not left_alive(mark):
        time.sleep(0.05)
    process.send_signal(number)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert not left_alive(mark)
    folder = hak.newest()
    assert folder is not None
    assert json.loads((folder / "manifest.json").read_text())["status"] == "interrupted"
    assert [s["status"] for s in read_samples(folder)] == ["interrupted"]
    assert "--resume" in err


def test_signals_at_random_moments(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "work", 30, runs=50)
    for seed in range(6):
        process = hak.start("run", file, "--results", hak.results)
        time.sleep(random.Random(seed).uniform(0.02, 1.2))
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        # Before main has run, the signal kills it as it kills any program.
        assert process.returncode in (130, -signal.SIGINT)
        for folder in hak.results.glob("*/*"):
            read_samples(folder)
            if (folder / "manifest.json").exists():
                json.loads((folder / "manifest.json").read_text())
    assert not [path for path in hak.folder.glob("hak-*")]


def test_resume_completes_the_declared_blocks(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "work", 50, runs=4)
    process = hak.start("run", file, "--results", hak.results)
    folder = wait_for_samples(hak, 3)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    result = hak("run", "--resume", folder)
    assert result.code == 0, result.err
    samples = [s for s in result.samples if s["void"] is None]
    keys = sorted((s["block"], s["arm"]) for s in samples)
    assert keys == [(block, arm) for block in range(4) for arm in ("baseline", "treatment")]
    assert {s["session"] for s in result.samples} == {1, 2}
    for block in range(4):  # the runs of a block are of one session
        assert len({s["session"] for s in samples if s["block"] == block}) == 1
    assert len(result.manifest["sessions"]) == 2
    assert result.manifest["status"] == "complete"


def test_a_resumed_complete_run_runs_nothing(hak: Hak) -> None:
    result = hak.run(hak.experiment("/bin/true", runs=2))
    before = result.samples
    assert hak("run", "--resume", result.folder).samples == before


def test_resume_after_a_cut_last_line(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "work", 30, runs=2))
    assert result.folder is not None
    whole = (result.folder / "samples.jsonl").read_bytes()
    for cut in (1, 40, len(whole.splitlines(True)[-1]) - 1):
        (result.folder / "samples.jsonl").write_bytes(whole[:-cut])
        again = hak("run", "--resume", result.folder)
        assert again.code == 0, again.err
        assert "cut short" in again.err
        assert sum(s["void"] is None for s in again.samples) == 4


def test_damage_in_the_middle_names_the_line(hak: Hak) -> None:
    result = hak.run(hak.experiment("/bin/true", runs=2))
    assert result.folder is not None
    path = result.folder / "samples.jsonl"
    lines = path.read_bytes().splitlines(True)
    lines[1] = lines[1][:50] + b"\n"
    path.write_bytes(b"".join(lines))
    again = hak("run", "--resume", result.folder)
    assert again.code == 2 and "samples.jsonl:2:" in again.err
    assert path.read_bytes() == b"".join(lines)


def test_resume_of_no_result(hak: Hak) -> None:
    assert hak("run", "--resume", hak.folder).code == 2
    assert hak("run", "--resume", hak.folder / "none").code == 2


def test_resume_says_that_the_experiment_was_edited(hak: Hak) -> None:
    file = hak.experiment("/bin/true", runs=1)
    result = hak.run(file)
    file.write_text(file.read_text() + "\n")
    again = hak("run", file, "--resume", result.folder)
    assert again.code == 0 and "edited" in again.err


def test_resume_refuses_another_library(hak: Hak) -> None:
    library = hak.folder / FAKE.name
    shutil.copy(FAKE, library)
    arms = hak.fake_arms()
    for arm in arms:
        arm["library"] = str(library)
    result = hak.run(hak.experiment(MISBEHAVE, "work", 30, runs=1, arms=arms))
    library.write_bytes(library.read_bytes() + b"x")
    again = hak("run", "--resume", result.folder)
    assert again.code == 2 and "is not the one" in again.err


def test_a_folder_can_be_moved_and_resumed(hak: Hak) -> None:
    result = hak.run(hak.experiment("/bin/true", runs=1))
    assert result.folder is not None
    moved = hak.folder / "moved"
    shutil.move(result.folder, moved)
    assert hak("run", "--resume", moved).code == 0


def test_a_second_run_queues_or_refuses(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "work", 1500, runs=1)
    first = hak.start("run", file, "--results", hak.results)
    wait_for_samples(hak, 1)
    refused = hak.run(file, "--no-wait")
    assert refused.code == 5 and f"process {first.pid}" in refused.err
    second = hak.run(file)
    assert second.code == 0 and "waiting" in second.err
    first.communicate(timeout=30)
    assert first.returncode == 0


def test_waiting_can_be_interrupted(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "hang", runs=1)
    first = hak.start("run", file, "--results", hak.results)
    while not left_alive(f"{MISBEHAVE}\0hang"):
        time.sleep(0.05)
    second = hak.start("run", file, "--results", hak.results)
    time.sleep(1)
    for process in (second, first):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert process.returncode == 130


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_file_size_limit_keeps_what_was_written(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "work", 20, runs=30)
    process = hak.start(
        "run", file, "--results", hak.results, preexec_fn=lambda: limit_files(20_000)
    )
    _, err = process.communicate(timeout=60)
    assert process.returncode == 5, err
    assert "samples.jsonl" in err and "size limit" in err
    folder = hak.newest()
    assert folder is not None
    kept = read_samples(folder)
    assert kept
    assert hak("run", "--resume", folder).code == 0


def test_a_full_disk_keeps_what_was_written(hak: Hak) -> None:
    disk = hak.folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("may not mount a small disk here")
    try:
        file = hak.experiment(MISBEHAVE, "work", 20, runs=60)
        result = hak("run", file, "--results", disk)
        assert result.code == 5, result.err
        assert "No space left" in result.err
        assert read_samples(next(disk.glob("*/*")))
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_read_only_results_folder(hak: Hak) -> None:
    if os.geteuid() == 0:
        target: Path = Path("/proc/nowhere")
    else:
        target = hak.folder / "closed"
        target.mkdir(mode=0o555)
    result = hak("run", hak.experiment("/bin/true"), "--results", target)
    assert result.code == 5
    assert "--results" in result.err or "cannot make" in result.err


def test_a_killed_harness_leaves_nothing_running(hak: Hak) -> None:
    mark = str(hak.folder / "mark")
    file = hak.experiment(MISBEHAVE, "hang-with-grandchild", mark, timeout_seconds=60)
    process = hak.start("run", file, "--results", hak.results)
    while not left_alive(mark):
        time.sleep(0.05)
    process.kill()
    process.communicate(timeout=20)
    for _ in range(100):
        if not left_alive(mark):
            return
        time.sleep(0.05)
    raise AssertionError(left_alive(mark))
