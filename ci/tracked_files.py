"""Checks of the tracked files as text: no path of somebody's machine, no file too long to read.

    python3 ci/tracked_files.py FILE...
"""

from __future__ import annotations

import fnmatch
import re
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 600
"""Lines of a source or document; longer ones have more than one subject."""

READ_BY_PEOPLE = {".c", ".cpp", ".h", ".hpp", ".def", ".py", ".sh", ".md", ".build", ".j2"}

RECORDED = ("results/*/manifest.json", "results/*/samples.jsonl", "results/*/output/*")
"""What a run recorded of its machine stays as it was."""

MACHINE_PATH = re.compile(r"(?<![\w.~})\]>*/-])/(?:work|root|home/[a-z_][\w-]*)(?:/|\b(?!\w))")


def text_of(path: Path) -> str | None:
    """None for what is no text."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None


def machine_paths(name: str, text: str) -> Iterator[str]:
    if any(fnmatch.fnmatch(name, pattern) for pattern in RECORDED):
        return
    for number, line in enumerate(text.splitlines(), start=1):
        match = MACHINE_PATH.search(line)
        if match:
            yield f"{name}:{number}: a path of one machine: {match.group(0)}"


def too_long(name: str, text: str) -> Iterator[str]:
    lines = text.count("\n")
    if Path(name).suffix in READ_BY_PEOPLE and not name.startswith("results/") and lines > LONGEST:
        yield f"{name}: {lines} lines; more than {LONGEST} is more than one subject"


def problems(root: Path, names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        text = text_of(root / name)
        if text is not None:
            found += [*machine_paths(name, text), *too_long(name, text)]
    return found


def main() -> int:
    found = problems(Path.cwd(), sys.argv[1:])
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
