"""Refuses an include that goes upwards in core/ and boxes/, and circles among their files.

    python3 ci/floors.py [ROOT]

Tests are on no floor and may include anything; so are generated files at the top of core/.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FLOORS = ("base", "os", "slab", "boxes", "front", "observe", "api")
"""From low to high: a file includes only files of its own floor and of those below."""

EVERYWHERE_ABOVE_BASE = ("boxes/registry.hpp", "boxes/boxes.def")
"""Constants that depend on nothing: any floor but base may include them."""

SOURCES = {".c", ".cpp", ".h", ".hpp", ".def", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


@dataclass(frozen=True)
class Include:
    file: str
    line: int
    target: str

    def problem(self, what: str) -> str:
        return f"{self.file}:{self.line}: {what}"


def sources(root: Path) -> dict[str, Path]:
    """The files on floors, by the name with which others include them: os/memory.hpp, boxes/…"""
    folders = {floor: root / "core" / floor for floor in FLOORS} | {"boxes": root / "boxes"}
    found: dict[str, Path] = {}
    for floor, folder in folders.items():
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder)
            if path.suffix in SOURCES and "tests" not in inner.parts:
                found[f"{floor}/{inner.as_posix()}"] = path
    return found


def includes(name: str, path: Path) -> Iterator[Include]:
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(text)
        if match:
            yield Include(name, number, match.group(1))


def resolve(include: Include, files: dict[str, Path], root: Path) -> str | None:
    """Name of the included file; "" for a generated one; None where there is no such file."""
    beside = f"{include.file.rpartition('/')[0]}/{include.target}"
    for name in (beside, include.target):
        if name in files:
            return name
    return "" if (root / "core" / f"{include.target}.in").exists() else None


def direction(include: Include, target: str) -> str | None:
    """Why the include is refused, None where it is fine."""
    own, other = include.file.split("/")[0], target.split("/")[0]
    if target.endswith((".c", ".cpp")):
        return include.problem(f"includes a source file, {target}")
    if target in EVERYWHERE_ABOVE_BASE and own != "base":
        return None
    if FLOORS.index(other) > FLOORS.index(own):
        return include.problem(f"{own}/ includes {target}, which lies above it")
    return None


def circle(edges: dict[str, list[str]]) -> list[str] | None:
    """The files of one circle of includes, the first again at the end."""
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str] | None:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return None
        for target in edges.get(name, []):
            found = walk(target, [*path, name])
            if found:
                return found
        done.add(name)
        return None

    for name in edges:
        found = walk(name, [])
        if found:
            return found
    return None


def problems(root: Path) -> list[str]:
    files = sources(root)
    found: list[str] = []
    edges: dict[str, list[str]] = {}
    for name, path in files.items():
        for include in includes(name, path):
            target = resolve(include, files, root)
            if target is None:
                found.append(include.problem(f"{include.target} is no file of a floor"))
            elif target:
                edges.setdefault(name, []).append(target)
                found += filter(None, [direction(include, target)])
    loop = circle(edges)
    if loop:
        found.append("a circle of includes: " + " -> ".join(loop))
    return found


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    found = problems(root)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
