"""The checks of `hak test` that read sources: floors, files, formatting, types, linters."""

from __future__ import annotations

import difflib
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from building import CLANG, GCC
from running import CPUS, ROOT, Outcome, check, log_of, tracked

CPP = ("*.c", "*.cpp", "*.h", "*.hpp")
STYLE_OF_PYTHON = ("--line-length=100", "--target-version=py311")
TYPED_STRICTLY = (
    "ci",
    "ci/tests",
    "boxes",
    "boxes/tests",
    "core/tests",
    "harness/tests",
    "harness/hakbench/tests",
)
"""Folders of Python files beside the analysis, which has its own configuration of mypy."""


def over(stage: str, patterns: Sequence[str], *command: str | Path) -> Outcome:
    """One command over the tracked files of some patterns."""
    files = tracked(*patterns)
    return check(stage, [*command, *files]) if files else Outcome()


def floors() -> Outcome:
    return check("floors", [sys.executable, ROOT / "ci" / "floors.py"])


def files() -> Outcome:
    return over("files", ("*",), sys.executable, ROOT / "ci" / "tracked_files.py")


def clang_format() -> Outcome:
    outcome = over("format", CPP, "clang-format", "--dry-run", "-Werror")
    if not outcome.failed:
        return outcome
    lines = log_of("format").read_text(encoding="utf-8").splitlines()
    names = sorted({line.split(":")[0] for line in lines if "[-Wclang-format" in line})
    if not names:
        return outcome
    return Outcome(failed=1, said=f"clang-format -i {' '.join(names)}")


def black() -> Outcome:
    return over("black", ("*.py",), "black", "--check", "-q", "--diff", *STYLE_OF_PYTHON)


def mypy() -> Outcome:
    """Each folder by itself: they have modules of the same name."""
    cache = f"--cache-dir={ROOT / 'build' / 'mypy'}"
    total = Outcome()
    if (ROOT / "analysis" / "pyproject.toml").exists():
        total += check("mypy", ["mypy", cache], cwd=ROOT / "analysis")
    for folder in TYPED_STRICTLY:
        modules = [Path(path).name for path in tracked(f":(glob){folder}/*.py")]
        if modules:
            # Tests import from the folder above, from boxes/ and from the analysis.
            above = f"{(ROOT / folder).parent}:{ROOT / 'boxes'}:{ROOT / 'analysis'}"
            path = {"MYPYPATH": above} if folder.endswith("tests") else None
            command = ["mypy", cache, "--strict", *modules]
            total += check("mypy", command, cwd=ROOT / folder, env=path)
    return total


def shellcheck() -> Outcome:
    return over("shellcheck", ("hak", ".ci/run", "*.sh"), "shellcheck")


def tidy() -> Outcome:
    """With clang's flags of each file; the tests' own macros are not checked."""
    # fmt: off
    return check("tidy", [
        "run-clang-tidy", "-quiet", "-p", CLANG.folder, f"-j{CPUS}",
        f"^{ROOT}/(core|boxes|harness)/(?!.*tests/)",
    ], timeout=1800)
    # fmt: on


def boxes_page() -> Outcome:
    """docs/boxes.md is what the program prints."""
    page = ROOT / "docs" / "boxes.md"
    command = "hak boxes --markdown >docs/boxes.md"
    made = subprocess.run(
        [GCC.folder / "harness" / "hak", "boxes", "--markdown"], capture_output=True, check=False
    )
    if made.returncode != 0:
        return Outcome(failed=1, said=made.stderr.decode(errors="replace").strip())
    written = page.read_text(encoding="utf-8") if page.exists() else ""
    if made.stdout.decode() == written:
        return Outcome(passed=1)
    difference = difflib.unified_diff(
        written.splitlines(), made.stdout.decode().splitlines(), "docs/boxes.md", command, n=0
    )
    return Outcome(failed=1, said="\n".join([f"make it again: ./{command}", *difference][:30]))


CHECKS: dict[str, tuple[str, Callable[[], Outcome]]] = {
    "floors": ("includes of core/ and boxes/ go downwards only", floors),
    "files": ("no machine's paths, no over-long file", files),
    "format": ("clang-format", clang_format),
    "black": ("Python formatted", black),
    "mypy": ("Python typed", mypy),
    "shellcheck": ("shell scripts", shellcheck),
}
