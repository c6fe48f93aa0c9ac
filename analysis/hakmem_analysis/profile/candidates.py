"""What could be won: parts of the time that the allocator owns, with the greatest gain by Amdahl's
law, and what was tried on them before."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass

from ..files import Json
from ..history import Entry
from .kinds import Kind, short_name
from .shares import Ranked, Share, Shares, amdahl_pct

COLD_PCT = 2.0  # a slow path below this stays as it is
SHOWN = 12
FAST_BOXES = ("shape", "boot")
_DULL = {"hakmem", "the", "and", "for", "from", "with", "block", "blocks", "free", "one", "own"}

ADVICE = {
    Kind.FAST: "a shape box with a forecast, its golden and the null shape as control",
    Kind.SLOW: "run it less often (batch, capacity, policy) before making it shorter; nothing of it "
    "moves into the hot unit",
    Kind.KERNEL: "fewer faults and system calls: purge, commit and huge-page policy; guard peak RSS",
}
COLD_ADVICE = "leave it: cold paths stay cold, and code for it on the hot path costs more"
EFFORT_RISK = {
    Kind.FAST: ("high", "high: layout, goldens"),
    Kind.SLOW: ("medium", "low: layout stands still"),
    Kind.KERNEL: ("medium", "medium: memory"),
}


@dataclass(frozen=True)
class Candidate:
    """A part of the time that a change could save. `boxes`: those that act on it."""

    subject: str
    kind: Kind
    share: Share
    boxes: tuple[str, ...]
    earlier: tuple[Entry, ...]

    @property
    def is_cold(self) -> bool:
        return self.kind is Kind.SLOW and self.share.ci95_pct[1] < COLD_PCT

    @property
    def gain_pct(self) -> float:
        """Greatest possible gain in %: its whole time costs nothing."""
        return amdahl_pct(self.share.pct)

    @property
    def gain_ci95_pct(self) -> tuple[float, float]:
        low, high = self.share.ci95_pct
        return amdahl_pct(low), amdahl_pct(high)

    @property
    def advice(self) -> str:
        return COLD_ADVICE if self.is_cold else ADVICE[self.kind]

    def to_json(self) -> Json:
        effort, risk = EFFORT_RISK[self.kind]
        return {
            "subject": self.subject,
            "kind": self.kind.value,
            "share_pct": self.share.pct,
            "ci95_pct": list(self.share.ci95_pct),
            "gain_pct": self.gain_pct,
            "gain_ci95_pct": list(self.gain_ci95_pct),
            "is_cold": self.is_cold,
            "effort": effort,
            "risk": risk,
            "advice": self.advice,
            "boxes": list(self.boxes),
            "earlier": [
                {"path": e.path, "box": e.box, "decision": e.decision, "delta_pct": e.delta_pct}
                for e in self.earlier
            ],
        }


def known_boxes() -> list[Json]:
    """The registry, from `hak boxes --json`; empty where the program is not there."""
    program = os.environ.get("HAK_PROGRAM")
    if not program:
        return []
    try:
        shown = subprocess.run(
            [program, "boxes", "--json"], capture_output=True, text=True, timeout=20, check=True
        )
        boxes: list[Json] = json.loads(shown.stdout)
    except (OSError, subprocess.SubprocessError, json.JSONDecodeError):
        return []
    return boxes


def candidates_of(shares: Shares, boxes: list[Json], history: list[Entry]) -> list[Candidate]:
    """Candidates of one arm, the greatest possible gain first."""
    parts: list[tuple[str, Kind, Share, str]] = []
    for word in ("malloc", "free"):
        members = [r for r in shares.ranked if r.kind is Kind.FAST and _is_of(r, word)]
        if members:
            parts.append((f"{word} fast path", Kind.FAST, _sum(members), word))
    for item in shares.ranked:
        if item.kind is Kind.SLOW:
            name = short_name(item.frame.symbol)
            parts.append((name, Kind.SLOW, item.self_share, name.rsplit("::", 1)[-1]))
    total = shares.owned.total
    touched = shares.by_kind[Kind.KERNEL].count - shares.asked.count
    parts.append(("kernel, asked by the allocator", Kind.KERNEL, shares.asked, "purge commit map"))
    parts.append(
        ("kernel, faults of the program", Kind.KERNEL, Share(touched, total), "purge faults")
    )
    found = []
    for subject, kind, share, words in parts:
        if not share.count:
            continue
        names = tuple(b["env"] for b in boxes if _acts_on(b, kind, words))
        earlier = tuple(entry for entry in history if entry.box in names)
        found.append(Candidate(subject, kind, share, names, earlier))
    return sorted(found, key=lambda c: (-c.share.count, c.subject))[:SHOWN]


def _is_of(item: Ranked, word: str) -> bool:
    symbol = item.frame.symbol
    is_free = "free" in symbol or "delete" in symbol
    return is_free == (word == "free")


def _sum(members: list[Ranked]) -> Share:
    return Share(sum(m.self_share.count for m in members), members[0].self_share.total)


def _words(text: str) -> set[str]:
    found = {word for word in re.split(r"[^a-z0-9]+", text.lower()) if len(word) > 2}
    return found - _DULL


def _acts_on(box: Json, kind: Kind, words: str) -> bool:
    """Shape and boot boxes change the fast paths; others act on the slow path whose name their id or
    counter holds."""
    is_shape = box.get("kind") in FAST_BOXES
    if kind is Kind.FAST or is_shape:
        return kind is Kind.FAST and is_shape
    own = _words(f"{box.get('id', '')} {box.get('counter', '')}")
    return any(a.startswith(b[:5]) or b.startswith(a[:5]) for a in own for b in _words(words))
