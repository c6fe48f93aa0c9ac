"""Running estimates for the harness's progress line: a process that answers lines on stdin.

`estimate DIR` gives {"cells": {cell: {"delta_pct", "ci95_pct", "n"}}}; `look DIR` adds what a
sequential run needs: {"stop", "decision", "n", "next_look"}; `levels DIR` gives its looks and levels. Every line is answered by one line of
JSON; what goes wrong is answered by {"error": …}. The file is read on from where the last call
stopped, so a call costs the new samples only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from .errors import AnalysisError
from .evidence import judge_sequential
from .files import Json, check_format, dump_json, read_json
from .load import parse_sample
from .plan import Plan, read_plan
from .slices import process_rates
from .stats.decide import Band, Word
from .stats.intervals import paired, percent, t_interval
from .stats.sequential import pocock_levels

Key = tuple[str, int, int]  # cell, block, attempt


@dataclass
class Folder:
    """What is known of one result folder so far; `offset` is the end of the last whole line, `tail`
    that line itself: where it no longer stands there, the file was rewritten."""

    path: Path
    plan: Plan
    offset: int = 0
    line: int = 0
    tail: bytes = b""
    values: dict[Key, dict[str, float]] = field(default_factory=dict)
    void: set[Key] = field(default_factory=set)


def open_folder(path: Path) -> Folder:
    """Reads the manifest. AnalysisError where it is missing or damaged."""
    manifest = read_json(path / "manifest.json")
    check_format(manifest, str(path / "manifest.json"))
    return Folder(path, read_plan(manifest, str(path / "manifest.json")))


def refresh(folder: Folder) -> bool:
    """Takes in the lines that were added. False where the file is no longer the one that was read (a
    block became void, a resumed run dropped a cut record): then the folder must be opened anew."""
    name = folder.path / "samples.jsonl"
    if not name.exists():
        return folder.offset == 0
    with name.open("rb") as stream:
        stream.seek(folder.offset - len(folder.tail))
        if stream.read(len(folder.tail)) != folder.tail:
            return False
        added = stream.read()
    whole = added[: added.rfind(b"\n") + 1]
    for line in whole.splitlines(keepends=True):
        folder.line += 1
        _take(folder, parse_sample(line, f"{name}:{folder.line}", folder.line))
        folder.tail = line
    folder.offset += len(whole)
    return True


def _take(folder: Folder, record: Json) -> None:
    key = (record["cell"], record["block"], int(record.get("attempt") or 1))
    if record.get("void") is not None:
        folder.void.add(key)
    if record["status"] != "ok":
        return
    if record["arm"] == "slices":
        _take_slices(folder, key, record)
        return
    value = record["metrics"].get(folder.plan.metric)
    if value is not None and value > 0:
        folder.values.setdefault(key, {})[record["arm"]] = float(value)


def _take_slices(folder: Folder, key: Key, record: Json) -> None:
    """A process of slices mode has both arms in it."""
    names = (folder.plan.baseline.name, folder.plan.treatments[0].name)
    pieces = (record.get("record") or {}).get("slices") or []
    rates = process_rates(pieces, *names)
    if rates is not None:
        folder.values[key] = dict(zip(names, rates))


def differences(folder: Folder, cell: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """d of each block in which baseline and the first treatment have a value."""
    plan = folder.plan
    names = (plan.baseline.name, plan.treatments[0].name)
    blocks: dict[int, dict[str, float]] = {}
    for key in sorted(folder.values):
        if key[0] == cell and key not in folder.void:
            blocks[key[1]] = folder.values[key]
    pairs = [
        (values[names[0]], values[names[1]])
        for _, values in sorted(blocks.items())
        if names[0] in values and names[1] in values
    ]
    table = np.array(pairs, dtype=float).reshape(-1, 2)
    result: np.ndarray[Any, np.dtype[np.float64]] = plan.sign * (
        np.log(table[:, 1]) - np.log(table[:, 0])
    )
    return result


def estimate(folder: Folder) -> Json:
    """Delta, 95 % interval (null for fewer than two blocks) and blocks of each cell so far."""
    cells = {}
    for cell in folder.plan.cells:
        data = differences(folder, cell.name)
        interval = None
        if len(data) > 1:
            interval = [percent(float(x)) for x in t_interval(paired(data), 0.05)]
        cells[cell.name] = {
            "delta_pct": percent(float(data.mean())) if len(data) else None,
            "ci95_pct": interval,
            "n": len(data),
        }
    return {"cells": cells}


def look(folder: Folder) -> Json:
    """Whether a sequential run may stop: at a look whose evidence is decided, or at the last one."""
    plan = folder.plan
    if not plan.looks:
        raise AnalysisError(str(folder.path), "is no sequential run", "start it with until_decided")
    data = differences(folder, plan.primary.name)
    found = judge_sequential(data, Band.of(plan.threshold_pct), plan.looks)
    later = [count for count in plan.looks if count > len(data)]
    is_decided = found.verdict is not Word.UNDECIDED
    return {
        "stop": is_decided or not later,
        "decision": found.verdict.text,
        "n": len(data),
        "next_look": None if is_decided or not later else later[0],
    }


def levels(folder: Folder) -> Json:
    """What a sequential run declares before its first block."""
    looks = folder.plan.looks
    if not looks:
        raise AnalysisError(str(folder.path), "is no sequential run", "start it with until_decided")
    found = pocock_levels(looks)
    return {
        "looks": list(looks),
        "level_two_sided": found.two_sided,
        "level_one_sided": found.one_sided,
    }


def answer(known: dict[str, Folder], line: str) -> Json:
    """The answer to one line."""
    command, _, name = line.strip().partition(" ")
    commands = {"estimate": estimate, "look": look, "levels": levels}
    if command not in commands or not name:
        return {
            "error": f"unknown command '{line.strip()}'; send: estimate DIR, look DIR or levels DIR"
        }
    try:
        folder = known.get(name) or open_folder(Path(name))
        if not refresh(folder):
            folder = open_folder(Path(name))
            refresh(folder)
        known[name] = folder
        return commands[command](folder)
    except AnalysisError as error:
        known.pop(name, None)
        return {"error": str(error)}
    except (OSError, ValueError, KeyError, TypeError, ArithmeticError) as error:
        known.pop(name, None)
        return {"error": f"{name}: {type(error).__name__}: {error}"}


def serve(source: IO[str], sink: IO[str]) -> None:
    """Answers lines until the end of `source`."""
    known: dict[str, Folder] = {}
    for line in source:
        if line.strip():
            sink.write(dump_json(answer(known, line), None))
            sink.flush()
