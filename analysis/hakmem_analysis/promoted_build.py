"""libhakmem.so with another default of one box, built beside the tree: what `hak promote` confirms with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from .errors import AnalysisError
from .load import Run
from .registry import LIST, BoxEntry, with_field, without_expiry

NOT_OF_THE_TREE = (".git", "build", "results", "__pycache__", ".mypy_cache", ".pytest_cache")
LIBRARY = "core/libhakmem.so"


@dataclass(frozen=True)
class Promotion:
    """What would change: `old` and `new` are the defaults."""

    box: BoxEntry
    old: int
    new: int
    evidence: Run


def changed_registry(root: Path, change: Promotion) -> str:
    """boxes.def with the new default."""
    text = (root / LIST).read_text(encoding="utf-8")
    text = with_field(text, change.box.id, "default_value", str(change.new))
    if change.box.status == "research":
        text = with_field(text, change.box.id, "status", "Status::default_on")
        text = without_expiry(text, change.box.id)
    return text


def _run(command: Sequence[str | Path], log: Path) -> None:
    with log.open("a", encoding="utf-8") as stream:
        done = subprocess.run(command, stdout=stream, stderr=stream, check=False)
    if done.returncode != 0:
        raise AnalysisError(str(log), "libhakmem.so does not build", "read the log")


def build_promoted(root: Path, change: Promotion) -> Path:
    """Builds libhakmem.so with the new default from a copy of the tree below build/promote; the tree
    itself is not touched before the change is confirmed. Gives the library's path. AnalysisError
    where it does not build, or where a research box, of which libhakmem.so holds no code, brings
    none."""
    folder = root / "build" / "promote" / change.box.id
    shutil.rmtree(folder, ignore_errors=True)
    tree, out, log = folder / "tree", folder / "out", folder / "log"
    shutil.copytree(root, tree, ignore=shutil.ignore_patterns(*NOT_OF_THE_TREE))
    _run(["meson", "setup", out, tree, "-Dharness=false", "-Dtests=false"], log)
    old = folder / "old.so"
    if change.box.status == "research":
        _run(["ninja", "-C", out, LIBRARY], log)
        shutil.copy(out / LIBRARY, old)
    (tree / LIST).write_text(changed_registry(root, change), encoding="utf-8")
    _run(["ninja", "-C", out, LIBRARY], log)
    if old.exists() and not changed_functions(root, old, out / LIBRARY):
        raise AnalysisError(
            change.box.env,
            "changes no code of libhakmem.so: its code is for the lab only",
            "move the code out of #ifdef HAKMEM_LAB and `if constexpr (kLab)` first",
        )
    return out / LIBRARY


def changed_functions(root: Path, old: Path, new: Path) -> list[str]:
    """Names of the functions that differ between two builds, wherever they lie."""
    program = root / "boxes" / "changed_code.py"
    done = subprocess.run(
        [sys.executable, program, old, new], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise AnalysisError(str(program), last, "install binutils (hak setup)")
    return done.stdout.split()
