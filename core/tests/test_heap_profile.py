"""HAKMEM_HEAP_PROFILE: live bytes by call site in pprof's text form, and nothing where it is off."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from hakmem_analysis.heap_profile import (
    Estimate,
    HeapProfile,
    names_of,
    read_profile,
    table,
)
from preload import LIBRARIES, PLAIN, Arm, program, run

KEPT = {
    "keeps_small": 100000 * 240,
    "keeps_medium": 1600 * 5000,
    "keeps_runs": 80 * 200000,
    "keeps_aligned": 4000 * 1000,
    "grows": 32768000,
}
"""Bytes that the call sites of `sites` keep."""


def profiles(
    arm: Arm, folder: Path, rate: str, how: str = "exit", status: int = 0
) -> list[HeapProfile]:
    """Of all processes, the oldest first."""
    env = {"HAKMEM_HEAP_PROFILE": f"{folder / 'heap'}{rate}"}
    if how == "signal":
        env["HAKMEM_STATS_SIGNAL"] = str(int(signal.SIGUSR1))
    done = run(arm, [program("sites"), how], env=env)
    assert (done.returncode, done.stderr) == (status, ""), done
    assert all(re.fullmatch(r"heap\.\d+", path.name) for path in folder.iterdir())
    return [read_profile(path) for path in sorted(folder.iterdir())]


def by_site(profile: HeapProfile) -> dict[str, Estimate]:
    """What is live, by the function that called malloc."""
    names = names_of(profile, {sample.frames[0] for sample in profile.samples})
    sites = set(names.values())
    return {
        site: profile.estimate(s for s in profile.samples if names[s.frames[0]] == site)
        for site in sites
    }


def is_close(estimate: Estimate, size: int) -> bool:
    """Within four standard errors. The draws begin at the same seeds in each process."""
    return bool(abs(estimate.size - size) <= 4 * estimate.error + 1)


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
@pytest.mark.parametrize("rate", [":16384", ":131072", ""], ids=["16-KiB", "128-KiB", "default"])
def test_estimates_of_live_bytes(arm: Arm, rate: str, tmp_path: Path) -> None:
    (profile,) = profiles(arm, tmp_path, rate)
    assert profile.rate == int(rate[1:] or 524288)
    sites = by_site(profile)
    for site, size in KEPT.items():
        assert is_close(sites[site], size), (site, sites[site])
    if rate == ":16384":  # many samples: a wrong weight would show
        assert sites["keeps_small"].error < 0.03 * KEPT["keeps_small"]
    # What is freed is gone, by its own thread or another one.
    assert "keeps_nothing" not in sites


@pytest.mark.parametrize(
    ("how", "status"), [("abort", -signal.SIGABRT), ("signal", 0)], ids=["abort", "signal"]
)
def test_processes_that_do_not_reach_their_end(how: str, status: int, tmp_path: Path) -> None:
    (profile,) = profiles(PLAIN, tmp_path, ":65536", how, status)
    assert is_close(by_site(profile)["keeps_small"], KEPT["keeps_small"])


def test_child_has_what_its_parent_had_and_its_own(tmp_path: Path) -> None:
    pair = profiles(PLAIN, tmp_path, ":65536", "fork")
    few, many = sorted(
        (by_site(profile) for profile in pair), key=lambda s: float(s["keeps_small"].size)
    )
    for site, size in KEPT.items():
        assert is_close(few[site], size) and is_close(many[site], 2 * size), site


def test_table_names_the_callers(tmp_path: Path) -> None:
    (profile,) = profiles(PLAIN, tmp_path, ":65536")
    _, first, second = table(profile, 2).splitlines()
    assert re.search(r" 1 blocks  grows < ", first), first
    assert re.search(r" blocks  keeps_small < .*keeps_all", second), second


def test_pprof_reads_it(tmp_path: Path) -> None:
    pprof = shutil.which("google-pprof")
    if pprof is None:
        pytest.skip("pprof is not installed")
    profiles(PLAIN, tmp_path, ":65536")
    (path,) = tmp_path.iterdir()
    done = subprocess.run(
        [pprof, "--text", "--show_bytes", str(program("sites")), str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done
    # What was inlined is listed apart from its own function.
    sites: dict[str, int] = defaultdict(int)
    for line in done.stdout.splitlines()[1:]:
        sites[line.split()[5]] += int(line.split()[0])
    for site, estimate in by_site(read_profile(path)).items():
        assert sites[site] == pytest.approx(estimate.size, rel=0.01), site


def test_without_it_nothing_is_written(tmp_path: Path) -> None:
    done = run(PLAIN, [program("sites")], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(tmp_path.iterdir())


def test_without_it_none_of_its_code_runs(tmp_path: Path) -> None:
    """Of all ways to get and free blocks. (That the fast paths are the same, the goldens say.)"""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    counts = tmp_path / "callgrind"
    command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts}"]
    done = run(PLAIN, [*command, program("sites")])
    if "debuginfo reader" in done.stderr:
        pytest.skip("valgrind cannot read what this compiler wrote")
    assert done.returncode == 0, done
    name = re.compile(r" hakmem::(?:\(anonymous namespace\)::)?(\w+)\(")
    ran = set(name.findall(counts.read_text("utf-8")))
    assert {"malloc_slow", "large_free", "reallocate"} <= ran
    assert not ran & {"sample_due", "record_sample", "forget_sample", "write_samples"}


def test_profile_that_cannot_be_written() -> None:
    env = {"HAKMEM_HEAP_PROFILE": "/no/such/folder/heap"}
    done = run(PLAIN, [program("sites")], env=env)
    assert done.returncode == 0
    assert re.fullmatch(
        r"hakmem: cannot write the heap profile to /no/such/folder/heap\.\d+\n", done.stderr
    )


@pytest.mark.parametrize("value", ["", ":4096", "x:1", "x:2000000000", "x:99999999999999999999"])
def test_bad_value(value: str) -> None:
    done = run(PLAIN, ["/bin/echo"], env={"HAKMEM_HEAP_PROFILE": value})
    assert done.returncode == 78 and done.stderr.startswith(
        f"hakmem: HAKMEM_HEAP_PROFILE={value}: not FILE"
    )
