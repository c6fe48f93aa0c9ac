"""What `hak promote` builds: libhakmem.so whose code has changed, or a refusal that says why not."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from changed_code import changed
from hakmem_analysis import AnalysisError
from hakmem_analysis.promoted_build import Promotion, build_promoted
from hakmem_analysis.registry import BoxEntry

SOURCE = """
const char* text(void) {{ return "{text}"; }}
const char* other(void) {{ return "other"; }}
int value(void) {{ return {value}; }}
"""


def library(folder: Path, name: str, text: str, value: int) -> Path:
    source, made = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(SOURCE.format(text=text, value=value))
    subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "-o", made, source], check=True)
    return made


def test_only_functions_that_do_something_else_have_changed(tmp_path: Path) -> None:
    old = library(tmp_path, "old", "short", 1)
    moved = library(tmp_path, "moved", "a text that moves the one behind it", 1)
    new = library(tmp_path, "new", "short", 2)
    assert changed(old, old) == []
    assert changed(old, moved) == []
    assert changed(old, new) == ["value"]


def promotion(name: str, kind: str) -> Promotion:
    box = BoxEntry(name, f"HAKMEM_{name.upper()}", kind, 0, "research", "", "")
    return Promotion(box, 0, 1, SimpleNamespace())  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_shape_of_the_fast_path_changes_malloc(tree: Path) -> None:
    made = build_promoted(tree, promotion("prefetch_next", "shape"))
    old = made.parents[2] / "old.so"
    assert made.name == "libhakmem.so" and "malloc" in changed(old, made)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [("inline_tails", "shape"), ("refill_tiers", "slow")])
def test_a_box_of_the_lab_is_refused_with_its_reason(tree: Path, name: str, kind: str) -> None:
    with pytest.raises(AnalysisError, match=f"HAKMEM_{name.upper()}.*for the lab only"):
        build_promoted(tree, promotion(name, kind))
