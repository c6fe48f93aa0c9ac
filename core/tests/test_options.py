"""HAKMEM_ variables: a wrong one is one line on stderr and the default; with HAKMEM_STRICT=1 it is
the end of the process, before main."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from preload import C7_ULTRA, LIBRARIES, PLAIN, Arm, program, run
from reports import reports

LENIENT = {"HAKMEM_STRICT": "-unset-"}
EX_CONFIG = 78
HUGE = "9" * 10000


def said_by(arm: Arm, env: Mapping[str, str], path: Path) -> tuple[str, dict[str, int]]:
    """stderr and the effective values of a process that has to run to its end."""
    report = path / "report.jsonl"
    command = ["/bin/echo", "stdout is the program's"]
    done = run(arm, command, env={**LENIENT, "HAKMEM_REPORT": str(report), **env})
    assert (done.returncode, done.stdout) == (0, "stdout is the program's\n"), done
    boxes = reports(report)[0]["boxes"]
    return done.stderr, {name: box["value"] for name, box in boxes.items()}


def defaults(path: Path) -> dict[str, int]:
    path = path / "defaults"
    path.mkdir()
    return said_by(PLAIN, {}, path)[1]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("HAKMEM_REFIL_BATCH", "HAKMEM_REFILL_BATCH"),
        ("HAKMEM_PURGE_DELAI", "HAKMEM_PURGE_DELAY"),
        ("HAKMEM_C7_ULTR", "HAKMEM_C7_ULTRA"),
        ("HAKMEM_REPROT", "HAKMEM_REPORT"),
        ("HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN", "HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN_OPT"),
    ],
)
def test_unknown_name_and_the_nearest(name: str, nearest: str, tmp_path: Path) -> None:
    for arm in LIBRARIES:
        folder = tmp_path / arm.name
        folder.mkdir()
        said, values = said_by(arm, {name: "1"}, folder)
        expected = f"hakmem: unknown variable {name}=1; nearest known name is {nearest}\n"
        assert said == expected
    assert values == defaults(tmp_path)


@pytest.mark.parametrize("name", ["HAKMEM_", "HAKMEM_" + "X" * 3000, "HAKMEM_\x01\x02"])
def test_odd_names(name: str, tmp_path: Path) -> None:
    said, values = said_by(PLAIN, {name: "1"}, tmp_path)
    assert said.startswith("hakmem: unknown variable HAKMEM_")
    assert said.endswith("\n") and said.count("\n") == 1
    assert values == defaults(tmp_path)


def short(value: str) -> str:
    return repr(value[:8])


BAD_VALUES = ["", " ", "-5", "0", "257", HUGE, "-" + HUGE, "abc", "16x", "1.5", "0x10", "--1", "+1"]


@pytest.mark.parametrize("value", BAD_VALUES, ids=short)
def test_bad_value(value: str, tmp_path: Path) -> None:
    said, values = said_by(PLAIN, {"HAKMEM_REFILL_BATCH": value}, tmp_path)
    assert said.startswith("hakmem: HAKMEM_REFILL_BATCH=")
    assert said.endswith("\n") and said.count("\n") == 1
    if len(value) < 100:
        expected = f"hakmem: HAKMEM_REFILL_BATCH={value}: not a number from 1 to 256; using 16\n"
        assert said == expected
    assert values == defaults(tmp_path)


BOXES = {
    "HAKMEM_REFILL_BATCH",
    "HAKMEM_PURGE_DELAY",
    "HAKMEM_C7_ULTRA",
    "HAKMEM_C7_ULTRA_HEADER_LIGHT",
    "HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN_OPT",
    "HAKMEM_BURN",
    "HAKMEM_STRICT",
}


@pytest.mark.parametrize("name", sorted(BOXES))
@pytest.mark.parametrize("value", ["", HUGE, "-7", "yes"], ids=short)
def test_every_variable_refuses_nonsense(name: str, value: str, tmp_path: Path) -> None:
    for arm in LIBRARIES:
        folder = tmp_path / arm.name
        folder.mkdir()
        said, values = said_by(arm, {name: value}, folder)
        assert said.startswith(f"hakmem: {name}"), said
        assert said.endswith("\n") and said.count("\n") == 1
        assert values == defaults(folder)


def test_message_stays_one_line(tmp_path: Path) -> None:
    said, _ = said_by(PLAIN, {"HAKMEM_REFILL_BATCH": "1\n2\n3"}, tmp_path)
    assert said.count("\n") == 1 and said.endswith("\n")


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
@pytest.mark.parametrize(
    "env",
    [
        {"HAKMEM_NO_SUCH_BOX": "1"},
        {"HAKMEM_REFILL_BATCH": ""},
        {"HAKMEM_PURGE_DELAY": "soon"},
        {"HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN_OPT": "1"},
    ],
    ids=["unknown", "empty", "no_number", "requires"],
)
def test_strict_stops_before_main(arm: Arm, env: dict[str, str]) -> None:
    done = run(arm, ["/bin/echo", "main"], env=env)
    assert (done.returncode, done.stdout) == (EX_CONFIG, ""), done
    assert done.stderr.startswith("hakmem: ") and done.stderr.count("\n") == 1


def test_shapes_are_refused_by_the_library_without_variants(tmp_path: Path) -> None:
    standard = Arm("standard", PLAIN.library, C7_ULTRA.env)
    said, values = said_by(standard, {}, tmp_path)
    assert said == (
        "hakmem: HAKMEM_C7_ULTRA=1: libhakmem.so has no research boxes, "
        "use libhakmem-lab.so; using the defaults\n"
    )
    assert values == defaults(tmp_path)
    assert run(standard, ["/bin/echo"]).returncode == EX_CONFIG


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_required_box_is_missing(arm: Arm, tmp_path: Path) -> None:
    name = "HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN_OPT"
    said, values = said_by(arm, {name: "1"}, tmp_path)
    assert said == f"hakmem: {name}=1 needs HAKMEM_C7_ULTRA; using {name}=0\n"
    assert values == defaults(tmp_path)


def test_option_set_twice_does_not_crash(tmp_path: Path) -> None:
    # A duplicated name cannot be had from a dictionary: env -i with two assignments.
    script = "import os, sys; os.execve('/bin/true', ['true'], {b'A': b'1'})"
    done = run(PLAIN, ["/usr/bin/env", "python3", "-c", script])
    assert done.returncode == 0, done


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a set-user-id program of another")
def test_k26_options_are_ignored_in_a_setuid_program(tmp_path: Path) -> None:
    """The allocator is linked in, since a preload would be ignored there as well."""
    tmp_path.chmod(0o755)
    own = tmp_path / "options"
    shutil.copy(program("own_allocator"), own)
    env = {**LENIENT, "HAKMEM_REFILL_BATCH": "7", "HAKMEM_NONSENSE": "1"}
    plain = run(None, [own, "HAKMEM_REFILL_BATCH"], env=env)
    assert plain.stdout == "7\n" and plain.stderr.startswith("hakmem: unknown variable")
    os.chown(own, 65534, 65534)
    own.chmod(0o4755)
    report = tmp_path / "report.jsonl"
    env["HAKMEM_REPORT"] = str(report)
    setuid = run(None, [own, "HAKMEM_REFILL_BATCH"], env=env)
    if setuid.stdout == "7\n":
        pytest.skip("the folder of temporary files is mounted nosuid")
    assert (setuid.returncode, setuid.stdout, setuid.stderr) == (0, "16\n", "")
    assert not report.exists()


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_files_are_found_after_the_program_wrote_over_its_environment(
    arm: Arm, tmp_path: Path
) -> None:
    env = {
        "HAKMEM_REPORT": str(tmp_path / "report"),
        "HAKMEM_STATS": f"json:{tmp_path / 'stats'}",
        "HAKMEM_HEAP_PROFILE": f"{tmp_path / 'heap'}:65536",
    }
    done = run(arm, [program("title")], env=env, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["heap", "report", "stats"]
