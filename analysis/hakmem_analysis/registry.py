"""boxes/boxes.def as text: the line of a default and of a status, changed in place."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .errors import AnalysisError
from .files import write_text

LIST = "boxes/boxes.def"
PAGE = "docs/boxes.md"


@dataclass(frozen=True)
class BoxEntry:
    """What the registry says of one box."""

    id: str
    env: str
    kind: str
    default: int
    status: str
    hypothesis: str
    phase: str


def root_folder() -> Path:
    """The repository, as `hak` names it. AnalysisError where it does not."""
    root = Path(os.environ.get("HAK_ROOT") or ".")
    if not (root / LIST).exists():
        raise AnalysisError(str(root), f"holds no {LIST}", "call it as ./hak")
    return root


def program() -> str:
    """The `hak` program that called us."""
    return os.environ.get("HAK_PROGRAM") or "hak"


def find_box(name: str) -> BoxEntry:
    """A box by ENV name or id, from `hak boxes --json`. AnalysisError that lists what there is."""
    listed = subprocess.run(
        [program(), "boxes", "--json"], capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        raise AnalysisError(program(), "lists no boxes", "type: ./hak build")
    boxes = [
        BoxEntry(
            entry["id"],
            entry["env"],
            entry["kind"],
            int(entry["default_value"]),
            entry["status"],
            entry["hypothesis"],
            entry["phase"],
        )
        for entry in json.loads(listed.stdout)
    ]
    for box in boxes:
        if name.upper() in (box.env, box.id.upper()):
            return box
    known = ", ".join(box.id for box in boxes)
    raise AnalysisError(LIST, f"lists no box '{name}'", f"name one of {known}")


def _entry_span(text: str, box_id: str) -> tuple[int, int]:
    start = re.search(rf"^HAKMEM_BOX\({re.escape(box_id)},", text, re.MULTILINE)
    if start is None:
        raise AnalysisError(LIST, f"has no entry of '{box_id}'", "restore the file")
    following = re.search(r"^HAKMEM_BOX\(", text[start.end() :], re.MULTILINE)
    end = start.end() + following.start() if following else len(text)
    return start.start(), end


def with_field(text: str, box_id: str, field: str, value: str) -> str:
    """boxes.def with another value of one field of one box. AnalysisError where it has none."""
    start, end = _entry_span(text, box_id)
    entry, count = re.subn(rf"(\.{field} = )[^,\n]+,", rf"\g<1>{value},", text[start:end], count=1)
    if count == 0:
        raise AnalysisError(LIST, f"'{box_id}' has no line .{field}", "restore the file")
    return text[:start] + entry + text[end:]


def without_expiry(text: str, box_id: str) -> str:
    """boxes.def without the day by which the box had to be decided."""
    start, end = _entry_span(text, box_id)
    entry = re.sub(r",\s*\.expiry = \"[^\"]*\"", "", text[start:end])
    return text[:start] + entry + text[end:]


def write_registry(root: Path, text: str) -> None:
    """Replaces boxes.def, builds `hak` with it, and makes docs/boxes.md again. Where that does not
    build, the old list is put back and AnalysisError says so."""
    path = root / LIST
    before = path.read_text(encoding="utf-8")
    write_text(path, text)
    built = subprocess.run(
        ["sh", str(root / "ci" / "build.sh"), "products", "standard", "gcc"],
        capture_output=True,
        text=True,
        check=False,
    )
    page = subprocess.run(
        [program(), "boxes", "--markdown"], capture_output=True, text=True, check=False
    )
    if built.returncode != 0 or page.returncode != 0:
        write_text(path, before)
        raise AnalysisError(
            str(path),
            "does not build with the change, so it was put back",
            "see build/standard.log",
        )
    write_text(root / PAGE, page.stdout)
