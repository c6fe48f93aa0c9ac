"""`hak`: help, builds, and the hand-over to the program."""

from pathlib import Path

import pytest

from sandbox import Sandbox


@pytest.fixture
def machine(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def builds(machine: Sandbox) -> list[str]:
    return [call for call in machine.calls() if call.startswith("meson")]


@pytest.mark.parametrize("words", [(), ("help",), ("--help",), ("-h",)])
def test_help_needs_nothing(machine: Sandbox, words: tuple[str, ...]) -> None:
    done = machine.hak(*words)
    assert done.returncode == 0
    for command in ("run", "report", "boxes", "history", "doctor", "setup", "build", "test"):
        assert f"./hak {command}" in done.stdout
    assert machine.calls() == []


def test_help_of_a_command_is_the_programs(machine: Sandbox) -> None:
    assert "arguments: [run] [--help]" in machine.hak("help", "run").stdout


def test_run_builds_once_and_hands_over_in_the_callers_folder(
    machine: Sandbox, tmp_path: Path
) -> None:
    caller = tmp_path / "some where"
    caller.mkdir()
    done = machine.hak("run", "my experiment.json", "--gate", "no-go", cwd=caller)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "arguments: [run] [my experiment.json] [--gate] [no-go]",
        f"pwd: {caller}",
        f"root: {machine.root}",
        f"build: {machine.root}/build/standard",
        "python: /usr/bin/python3",
    ]
    assert len(done.stderr.splitlines()) == 2
    again = machine.hak("run", "my experiment.json", cwd=caller)
    assert again.stderr == ""
    assert len(builds(machine)) == 2


def test_run_builds_the_products_and_the_observing_libraries(machine: Sandbox) -> None:
    machine.hak("run", "x.json")
    assert [call for call in machine.calls() if call.startswith("ninja")] == [
        "ninja core/libhakmem.so core/libhakmem-lab.so",
        "ninja harness/hak",
    ]


def test_any_other_word_goes_to_the_program(machine: Sandbox) -> None:
    assert "arguments: [history] [x]" in machine.hak("history", "x").stdout


def test_it_can_be_called_through_a_link(machine: Sandbox) -> None:
    link = machine.bin / "hak"
    link.symlink_to(machine.root / "hak")
    done = machine.hak("boxes", program=link)
    assert f"root: {machine.root}\n" in done.stdout


def test_a_virtual_environment_that_has_the_packages_is_used(
    machine: Sandbox, tmp_path: Path
) -> None:
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 0\n")
    python.chmod(0o755)
    done = machine.hak("boxes", VIRTUAL_ENV=str(tmp_path / "venv"))
    assert f"python: {python}\n" in done.stdout
    python.write_text("#!/bin/sh\nexit 1\n")
    done = machine.hak("boxes", VIRTUAL_ENV=str(tmp_path / "venv"))
    assert "python: /usr/bin/python3\n" in done.stdout


def test_build_takes_profiles_and_a_compiler(machine: Sandbox) -> None:
    assert machine.hak("build", "debug", "standard", "--clang").returncode == 0
    assert (machine.root / "build/debug-clang/built").exists()
    assert (machine.root / "build/standard-clang/built").exists()
    assert "-Dprofile=debug -Dharness=false" in builds(machine)[0]


def test_an_unknown_profile_is_refused(machine: Sandbox) -> None:
    done = machine.hak("build", "fastest")
    assert done.returncode == 2
    assert "no build profile is called fastest" in done.stderr


def test_a_failed_build_shows_the_end_of_its_log(machine: Sandbox) -> None:
    machine.flag("broken")
    done = machine.hak("boxes")
    assert done.returncode == 4
    assert "ERROR: no compiler that works" in done.stderr
    assert "build/standard does not build" in done.stderr


def test_a_build_folder_that_cannot_be_made_is_said(machine: Sandbox) -> None:
    (machine.root / "build").write_text("in the way")
    done = machine.hak("boxes")
    assert done.returncode == 5
    assert "cannot write to" in done.stderr


def test_without_gtest_the_tests_are_left_out(machine: Sandbox) -> None:
    machine.command("pkg-config", "exit 1")
    machine.hak("boxes")
    assert "-Dtests=false" in builds(machine)[0]


def test_a_clone_that_was_moved_with_its_builds_builds_again(
    machine: Sandbox, tmp_path: Path
) -> None:
    machine.hak("boxes")
    moved = tmp_path / "moved here"
    machine.root.rename(moved)
    machine.root = moved
    done = machine.hak("boxes")
    assert f"root: {moved}\n" in done.stdout
    assert len(builds(machine)) == 2
