"""mechanism.json of a result: what each arm's code is, and how many instructions it executes.

Counts are those of the harness (counts.json, by callgrind), of the primary cell with fewer
operations. What could not be had is null, and `source` says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disassembly import fast_path, function, output_of

Json = dict[str, Any]

ENTRIES = ("malloc", "free")


class NotHad(Exception):
    """Why a figure is null, in some words."""


def symbols(library: Path) -> dict[str, tuple[int, int]]:
    """Address and size of the functions."""
    found = {}
    for line in output_of("nm", "-S", library).splitlines():
        match = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] (\S+)$", line)
        if match:
            found[match[3]] = (int(match[1], 16), int(match[2], 16))
    return found


@dataclass(frozen=True)
class Code:
    """The hot functions of one arm, as they lie in its library."""

    library: Path
    names: dict[str, str]
    """Symbol by entry."""

    def instructions(self, entry: str) -> int:
        """To the first return, no jump taken."""
        try:
            return len(fast_path(function(self.library, self.names[entry])))
        except AssertionError as reason:
            raise NotHad(str(reason)) from None

    def size(self, entry: str) -> int:
        return symbols(self.library)[self.names[entry]][1]

    def section(self) -> int:
        """From the first hot function to the end of the last."""
        placed = [symbols(self.library)[name] for name in self.names.values()]
        return max(at + size for at, size in placed) - min(at for at, _ in placed)


def code_of(library: Path, variant: str) -> Code:
    """`variant`: as the allocator reports it. NotHad for a library without symbols, or not ours."""
    if not variant:
        raise NotHad("no sample says which variant served it")
    known = symbols(library)
    plain = {"malloc": "malloc", "free": "free", "new": "_Znwm"}
    lab = {name: f"hakmem_{variant}_{name}" for name in plain}
    for names in (lab, plain):
        if all(name in known for name in names.values()):
            return Code(library, names)
    raise NotHad(f"{library.name} has no symbols of its hot functions")


@dataclass(frozen=True)
class ArmSeen:
    """What the result's files say of an arm. `counts`: its entry of counts.json."""

    library: Path | None
    variant: str
    counts: Json


COUNTED = {
    "instructions of malloc": ("per_malloc", "per call, fast path"),
    "instructions of free": ("per_free", "per call, fast path"),
    "instructions of slow paths": ("slow_per_op", "per malloc or free"),
}


def figures(seen: ArmSeen) -> Json:
    """Every quantity of one arm: its value, or the NotHad that says why not."""
    found: Json = {name: counted(seen.counts, key) for name, (key, _) in COUNTED.items()}
    code: Code | NotHad = NotHad("an arm's library is not ours, or not the measured file any more")
    if seen.library is not None:
        try:
            code = code_of(seen.library, seen.variant)
        except NotHad as reason:
            code = reason
    for entry in ENTRIES:
        found[f"shortest path of {entry}"] = of(code, lambda c: c.instructions(entry))
        found[f"code of {entry}"] = of(code, lambda c: c.size(entry))
    found["hot section"] = of(code, lambda c: c.section())
    return found


def counted(counts: Json, key: str) -> float | NotHad:
    value = counts.get(key)
    if isinstance(value, (int, float)):
        return round(float(value), 2)
    return NotHad(str(counts.get("problem") or "the counted run made no such call"))


def of(code: Code | NotHad, get: Callable[[Code], int]) -> int | NotHad:
    if isinstance(code, NotHad):
        return code
    try:
        return get(code)
    except NotHad as reason:
        return reason


def quantities() -> Iterator[tuple[str, str, str]]:
    """Name, unit and source, in the order of the report."""
    for name, (_, unit) in COUNTED.items():
        yield name, unit, "callgrind"
    for entry in ENTRIES:
        yield f"shortest path of {entry}", "instructions to the return", "disassembly"
    for entry in ENTRIES:
        yield f"code of {entry}", "bytes", "symbol table"
    yield "hot section", "bytes of the variant", "symbol table"


def mechanism(first: Json, second: Json, intro: str) -> Json:
    """The file's content, from the figures of the baseline and of the treatment."""
    rows = []
    for name, unit, source in quantities():
        values = {"baseline": first[name], "treatment": second[name]}
        reasons = sorted({str(v) for v in values.values() if isinstance(v, NotHad)})
        had: Json = {arm: None if isinstance(v, NotHad) else v for arm, v in values.items()}
        rows.append(
            {"quantity": name, "unit": unit, **had, "source": "; ".join([source, *reasons])}
        )
    return {"format": 1, "intro": intro, "rows": rows}
