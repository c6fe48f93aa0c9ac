"""The fast paths as reviewed files: a change of one instruction shows as a changed golden."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from disassembly import fast_path, function, normalised
from golden import FUNCTIONS, GOLDEN, built_with, text_of
from preload import LAB, PLAIN, STANDARD
from reports import profile, report_of

BUDGETS = {"malloc": (15, 2), "free": (20, 3)}
"""Instructions to the return, conditional branches among them."""

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="goldens are of x86-64")


@pytest.fixture(autouse=True)
def only_standard(tmp_path: Path) -> None:
    if profile(PLAIN, tmp_path) != "standard":
        pytest.skip("the fast paths of the standard profile are meant")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_golden(name: str) -> None:
    version = built_with()
    if version is None:
        pytest.skip("goldens are of gcc 12.2 and clang 14")
    assert text_of(name) == (GOLDEN / f"{name}.{version}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_budget(name: str) -> None:
    if built_with() is None:
        pytest.skip("the budget is kept by gcc 12.2 and clang 14")
    path = fast_path(function(STANDARD, name))
    instructions, branches = BUDGETS[name]
    assert len(path) <= instructions, path
    assert sum(step.is_conditional for step in path) <= branches, path


@pytest.mark.parametrize("name", ["malloc", "free", "_Znwm"])
def test_baseline_of_the_lab_is_the_library_after_the_entry_jump(name: str) -> None:
    own = {"_Znwm": "new"}.get(name, name)
    assert normalised(function(LAB, f"hakmem_baseline_{own}")) == normalised(
        function(STANDARD, name)
    )


@pytest.mark.parametrize("name", ["malloc", "free", "_Znwm"])
def test_entry_of_the_lab_is_one_jump(name: str) -> None:
    *load, jump = function(LAB, name)
    assert jump.name in ("jmp", "jmpq")
    # clang does not fold an atomic load into the jump.
    assert len(load) == (1 if built_with() == "clang-14" else 0)
    slot = (load or [jump])[0]
    assert "(%rip)" in slot.text and slot.symbol.startswith("_ZN6hakmem6sealedE")


def test_report_agrees_on_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    named = str(report_of(PLAIN, tmp_path / "own")["compiler"])
    assert named.split()[0] == (built_with() or named).split("-")[0]
