"""The registry as `hak boxes --json` prints it, and which values a check gives to a box."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(os.environ.get("HAK_ROOT") or Path(__file__).resolve().parent.parent)
BUILD = Path(os.environ.get("HAK_BUILD") or ROOT / "build" / "standard").resolve()
"""Of the libraries that are looked at."""


@dataclass(frozen=True)
class Box:
    """One entry of boxes.def; the fields that checks need."""

    id: str
    env: str
    kind: str
    minimum: int
    maximum: int
    default: int
    status: str
    requires: tuple[str, ...]
    excludes: tuple[str, ...]
    expiry: str
    index: int = -1
    """In boxes.def."""

    @property
    def is_shape(self) -> bool:
        """Whether it is a variant of the hot unit."""
        return self.kind in ("shape", "boot")

    @property
    def is_switch(self) -> bool:
        return (self.minimum, self.maximum) == (0, 1)

    def is_on(self, value: int) -> bool:
        """As the harness says it: a number is on where it is not its default."""
        return value != 0 if self.is_switch else value != self.default

    @property
    def others(self) -> list[int]:
        """Values beside the default: of a switch its other one, of a number both ends."""
        ends = dict.fromkeys((self.minimum, self.maximum))
        return [value for value in ends if value != self.default]


def program() -> Path:
    return Path(os.environ.get("HAK_PROGRAM") or ROOT / "build/standard/harness/hak")


def boxes() -> dict[str, Box]:
    """Boxes that the build has, by id. OSError or CalledProcessError where hak is not built."""
    facts = json.loads((BUILD / "core/build.json").read_text(encoding="utf-8"))
    made = subprocess.run(
        [program(), "boxes", "--json"], capture_output=True, text=True, check=True
    ).stdout
    return {
        entry["id"]: box_of(entry, index)
        for index, entry in enumerate(json.loads(made))
        if entry.get("profile", "") in ("", facts["profile"])
    }


def box_of(entry: dict[str, object], index: int) -> Box:
    words = {key: tuple(str(w) for w in _list(entry[key])) for key in ("requires_ids", "excludes")}
    return Box(
        id=str(entry["id"]),
        env=str(entry["env"]),
        kind=str(entry["kind"]),
        minimum=int(str(entry["minimum"])),
        maximum=int(str(entry["maximum"])),
        default=int(str(entry["default_value"])),
        status=str(entry["status"]),
        requires=words["requires_ids"],
        excludes=words["excludes"],
        expiry=str(entry["expiry"]),
        index=index,
    )


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def setting(box: Box, value: int, known: dict[str, Box]) -> dict[str, str]:
    """The variables that give `box` a value, with what it requires switched on."""
    env = {box.env: str(value)}
    for need in box.requires if box.is_on(value) else ():
        env |= setting(known[need], 1, known)
    return env
