"""`hak setup`: what it installs, when it asks, and what it says where it may not."""

from pathlib import Path

import pytest

from sandbox import Sandbox

LIST = """
# a comment
[run]
g++            command:no-such-compiler
old|new|newer  library:no-such-library
peer           library:no-such-library   optional

[test]
tool
"""


@pytest.fixture
def machine(tmp_path: Path) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    sandbox.packages(LIST)
    sandbox.know("g++", "new", "newer", "peer", "tool")
    sandbox.install()
    return sandbox


def installs(machine: Sandbox) -> list[str]:
    return [call.split(" -y ")[1] for call in machine.calls() if " install " in call]


def test_nothing_is_said_where_all_is_there(machine: Sandbox) -> None:
    machine.install("g++", "newer", "peer", "tool")
    done = machine.hak("setup", "run", "test")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.calls() == []


def test_without_root_and_terminal_it_prints_the_one_command(machine: Sandbox) -> None:
    machine.sudo()
    done = machine.hak("setup")
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "hak: missing: g++ old|new|newer, and this user may not install. Type, then try again:",
        "  sudo apt-get update && sudo apt-get install --no-install-recommends -y g++ new peer",
    ]
    assert machine.calls() == []


def test_without_sudo_the_command_is_for_su(machine: Sandbox) -> None:
    done = machine.hak("setup")
    assert done.returncode == 3
    assert "su -c 'apt-get update && apt-get install" in done.stderr


def test_root_installs_the_group_without_a_question(machine: Sandbox) -> None:
    machine.user(0)
    done = machine.hak("setup", "run")
    assert done.returncode == 0, done.stderr
    assert installs(machine) == ["g++ new peer"]
    assert "installing g++ new peer" in done.stderr


def test_a_yes_on_the_terminal_installs_with_sudo(machine: Sandbox) -> None:
    machine.sudo()
    status, shown = machine.hak_on_terminal("y", "setup")
    assert status == 0, shown
    assert "install with sudo apt-get? [y/N]" in shown
    assert [call for call in machine.calls() if call.startswith("sudo") and "install" in call]


def test_a_no_on_the_terminal_prints_the_command(machine: Sandbox) -> None:
    machine.sudo()
    status, shown = machine.hak_on_terminal("n", "setup")
    assert status == 3
    assert "sudo apt-get update" in shown
    assert machine.calls() == []


def test_no_network_is_said_in_a_line(machine: Sandbox) -> None:
    machine.user(0)
    machine.flag("no-network")
    done = machine.hak("setup")
    assert done.returncode == 3
    assert "the package mirror was not reached" in done.stderr
    assert "Temporary failure resolving" in done.stderr
    assert "./hak setup run" in done.stderr


def test_no_apt_names_the_packages(machine: Sandbox) -> None:
    for name in ("apt-get", "apt-cache", "dpkg-query"):
        (machine.bin / name).unlink()
    done = machine.hak("setup")
    assert done.returncode == 3
    assert done.stderr == (
        "hak: this system has no apt-get; install what Debian calls: g++ old|new|newer\n"
    )


def test_what_came_another_way_than_by_apt_counts(machine: Sandbox) -> None:
    machine.command("no-such-compiler", "exit 0")
    machine.install("new")
    done = machine.hak("boxes")
    assert done.returncode == 0, done.stderr


def test_an_optional_need_stops_nothing_on_the_way_to_something_else(machine: Sandbox) -> None:
    machine.install("g++", "old")
    machine.user(0)
    assert machine.hak("boxes").returncode == 0
    assert installs(machine) == []
    assert machine.hak("setup").returncode == 0
    assert installs(machine) == ["peer"]


def test_an_optional_need_that_this_system_does_not_know_is_left_out(machine: Sandbox) -> None:
    machine.know("g++", "new")
    machine.user(0)
    assert machine.hak("setup").returncode == 0
    assert installs(machine) == ["g++ new"]


def test_an_unknown_group_is_refused_by_name(machine: Sandbox) -> None:
    done = machine.hak("setup", "tests")
    assert done.returncode == 2
    assert "no group of packages is called tests; there are: run test" in done.stderr


def test_run_installs_its_own_group_only(machine: Sandbox) -> None:
    machine.user(0)
    assert machine.hak("run", "experiment.json").returncode == 0
    assert installs(machine) == ["g++ new peer"]
