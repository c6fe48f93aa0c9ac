"""`hak retire`: the card of a box that lost. It stays in results/cards/ when the code is gone, is listed
by `hak history`, and is shown before a run on the same box."""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

from .errors import AnalysisError
from .files import FORMAT, Json, dump_json, write_text
from .history import Entry, read_history
from .registry import LIST, BoxEntry, with_field, write_registry

DECIDED = ("NO-GO", "NEUTRAL", "UNDECIDED", "GO", "STRONG GO")


def last_result(results: Path, box: BoxEntry) -> Entry:
    """The youngest result on the box that is a verdict. AnalysisError where there is none."""
    entries, _ = read_history(results)
    found = [
        entry
        for entry in entries
        if entry.box == box.env and entry.decision in DECIDED and not entry.is_aa
    ]
    if not found:
        raise AnalysisError(
            str(results), f"no result decides about {box.env}", "a card needs one: hak run"
        )
    return found[-1]


def card_of(box: BoxEntry, result: Entry, reason: str, day: date) -> Json:
    """The content of results/cards/ID.json (docs/design/files.md)."""
    return {
        "format": FORMAT,
        "box": box.env,
        "values": result.values,
        "phase": result.phase,
        "title": result.title,
        "hypothesis": box.hypothesis,
        "workload": result.workload,
        "decision": result.decision,
        "delta_pct": result.delta_pct,
        "ci95_pct": result.ci95_pct,
        "n": result.n,
        "result": result.path,
        "removed": day.isoformat(),
        "reason": reason or result.reason,
    }


def users_of(root: Path, box: BoxEntry) -> list[str]:
    """Files of the allocator that read the box, relative to the repository."""
    found = subprocess.run(
        ["grep", "-rlw", f"Id::{box.id}", "core", "boxes"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return sorted(found.stdout.split())


def retire(root: Path, box: BoxEntry, results: Path, reason: str, day: date) -> str:
    """Writes the card and marks the box archived. Gives what is left for a person to remove.
    AnalysisError where the box is in the default or has no result."""
    if box.status == "default-on":
        raise AnalysisError(
            LIST, f"{box.env} is in the default", "promote another value or keep the box"
        )
    result = last_result(results, box)
    card = results / "cards" / f"{box.id}.json"
    text = with_field(
        (root / LIST).read_text(encoding="utf-8"), box.id, "status", "Status::archived"
    )
    write_registry(root, text)
    write_text(card, dump_json(card_of(box, result, reason, day)))
    lines = [f"{box.env} is archived; its card: {card}"]
    users = users_of(root, box)
    if users:
        lines.append(
            "its code can be removed now: " + ", ".join(users) + f", and its entry in {LIST}"
        )
    return "\n".join(lines) + "\n"
