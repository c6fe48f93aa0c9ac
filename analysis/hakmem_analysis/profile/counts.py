"""Instructions per call, exact: what the harness counted with callgrind, with the instructions' text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..files import Json

_HEADING = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_CODE = re.compile(r"^\s*([0-9a-f]+):\t(.+)$")
ENTRIES = ("malloc", "free")


@dataclass(frozen=True)
class Counted:
    """One function: `instructions` of its own in the whole run, `entries` how often it began;
    `executions` of each instruction by offset, for fast paths only."""

    name: str
    entry: str
    instructions: int
    entries: int
    executions: tuple[tuple[int, int], ...]

    @property
    def per_entry(self) -> float:
        return self.instructions / max(self.entries, 1)


@dataclass(frozen=True)
class CountSet:
    """One counted run. `what`: the cell or a size band. `problem`: why it is empty."""

    what: str
    problem: str | None
    mallocs: int
    frees: int
    per_malloc: float | None
    per_free: float | None
    slow_per_op: float | None
    functions: tuple[Counted, ...]

    @property
    def slow(self) -> list[Counted]:
        """Functions off the fast paths, most instructions first."""
        return [function for function in self.functions if not function.entry]

    def per_op(self, function: Counted) -> float:
        return function.instructions / max(self.mallocs + self.frees, 1)


def count_sets(arm: Json) -> list[CountSet]:
    """The counted runs of one arm of profile.json."""
    return [_count_set(entry) for entry in arm.get("counts") or []]


def _count_set(entry: Json) -> CountSet:
    functions = tuple(
        Counted(
            str(f["name"]),
            str(f["entry"]),
            int(f["instructions"]),
            int(f["entries"]),
            tuple((int(offset), int(count)) for offset, count in f.get("executions") or []),
        )
        for f in entry.get("functions") or []
    )
    return CountSet(
        str(entry["what"]),
        entry.get("problem"),
        int(entry.get("mallocs") or 0),
        int(entry.get("frees") or 0),
        entry.get("per_malloc"),
        entry.get("per_free"),
        entry.get("slow_per_op"),
        functions,
    )


def read_code(folder: Path, arm: Json) -> dict[str, dict[int, str]]:
    """Instructions of each function by offset from its start, out of objdump's text; empty where
    there is none."""
    path = folder / str(arm.get("code") or "")
    if not path.is_file():
        return {}
    functions: dict[str, dict[int, str]] = {}
    current: dict[int, str] = {}
    start = 0
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        heading, code = _HEADING.match(line), _CODE.match(line)
        if heading:
            start = int(line.split()[0], 16)
            current = functions.setdefault(heading.group(1), {})
        elif code:
            text = " ".join(code.group(2).split("#")[0].split())
            current[int(code.group(1), 16) - start] = text
    return functions
