"""Stacks out of perf's text, folded: each distinct stack once, with its count in every recording."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import AnalysisError
from ..files import FORMAT, Json, check_format, dump_json, read_json, write_text

UNKNOWN = "[unknown]"
_FRAME = re.compile(r"^\s+([0-9a-f]+) (.+) \((.*)\)$")
_OFFSET = re.compile(r"\+0x([0-9a-f]+)$")
_LOST = re.compile(r"PERF_RECORD_LOST(?:_SAMPLES)?\s+(?:lost\s+)?(\d+)")
STARTERS = ("env ", "perf ", "perf-exec ")  # they start the program: not what is measured


@dataclass(frozen=True, order=True)
class Frame:
    """One function of one file. `symbol` is UNKNOWN where the file has no name for the address."""

    symbol: str
    dso: str

    @property
    def is_known(self) -> bool:
        return self.symbol != UNKNOWN

    @property
    def is_kernel(self) -> bool:
        return self.dso.startswith("[kernel") or self.dso.endswith(
            (".ko", ".ko.xz", "[guest.kernel]")
        )


Stack = tuple[Frame, ...]
"""From the outermost frame to the one that ran."""


@dataclass
class Recordings:
    """Samples of one arm. `stacks`: count per recording; `offsets`: where in an unnamed or an
    allocator's function the samples fell; `lost`: samples that perf could not write."""

    stacks: dict[Stack, list[int]] = field(default_factory=dict)
    offsets: Counter[tuple[Frame, int]] = field(default_factory=Counter)
    lost: list[int] = field(default_factory=list)

    @property
    def totals(self) -> list[int]:
        """Samples of each recording."""
        if not self.stacks:
            return [0] * len(self.lost)
        return [sum(column) for column in zip(*self.stacks.values())]

    @property
    def total(self) -> int:
        return sum(self.totals)

    def add(self, lines: list[str], where: str) -> None:
        """Adds one recording: the lines of `perf script`. AnalysisError where they are none."""
        number = len(self.lost)
        self.lost.append(0)
        for counts in self.stacks.values():
            counts.append(0)
        frames: list[tuple[Frame, int]] = []
        is_wanted = False
        for line in [*lines, ""]:
            if line and not line[0].isspace():
                lost = _LOST.search(line)
                if lost:
                    self.lost[number] += int(lost.group(1))
                is_wanted = not lost and not line.startswith(STARTERS)
                frames = []
            elif line.strip():
                frames.append(_frame(line, where))
            elif frames:
                if is_wanted:
                    self._count(frames, number)
                frames = []

    def _count(self, leaf_first: list[tuple[Frame, int]], number: int) -> None:
        leaf, offset = leaf_first[0]
        # A caller without file and name is where the unwinder lost its way.
        callers = [frame for frame, _ in leaf_first[1:] if frame.is_known or frame.dso != UNKNOWN]
        stack = (*reversed(callers), leaf)
        counts = self.stacks.setdefault(stack, [0] * len(self.lost))
        counts[number] += 1
        if not leaf.is_kernel:
            self.offsets[leaf, offset] += 1

    def to_json(self) -> Json:
        frames = sorted({frame for stack in self.stacks for frame in stack})
        index = {frame: position for position, frame in enumerate(frames)}
        return {
            "frames": [[frame.symbol, frame.dso] for frame in frames],
            "stacks": [
                [[index[frame] for frame in stack], counts]
                for stack, counts in sorted(self.stacks.items())
            ],
            "offsets": [
                [index[frame], offset, count]
                for (frame, offset), count in sorted(self.offsets.items())
            ],
            "lost": self.lost,
        }

    @classmethod
    def from_json(cls, content: Json) -> Recordings:
        frames = [Frame(*entry) for entry in content["frames"]]
        return cls(
            {tuple(frames[i] for i in stack): list(counts) for stack, counts in content["stacks"]},
            Counter({(frames[i], offset): count for i, offset, count in content["offsets"]}),
            list(content["lost"]),
        )


def _frame(line: str, where: str) -> tuple[Frame, int]:
    match = _FRAME.match(line)
    if match is None:
        raise AnalysisError(
            where, f"is no output of perf script ({line.strip()[:60]})", "record again"
        )
    address, symbol, dso = match.groups()
    offset = _OFFSET.search(symbol)
    if offset is None:
        return Frame(symbol, dso), int(address, 16)
    return Frame(symbol[: offset.start()], dso), int(offset.group(1), 16)


def read_samples(folder: Path, profile: Json) -> dict[str, Recordings]:
    """Samples of each arm: from samples.json, or folded from raw/ and written there. AnalysisError
    where neither is there or nothing was sampled."""
    folded = folder / "samples.json"
    if folded.exists():
        content = read_json(folded)
        check_format(content, str(folded))
        return {name: Recordings.from_json(arm) for name, arm in content["arms"].items()}
    arms = {str(arm["name"]): _fold(folder, arm) for arm in profile["arms"]}
    content = {"format": FORMAT, "arms": {name: found.to_json() for name, found in arms.items()}}
    write_text(folded, dump_json(content, indent=None))
    return arms


def _fold(folder: Path, arm: Json) -> Recordings:
    found = Recordings()
    for entry in arm["recordings"]:
        path = folder / str(entry["file"])
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise AnalysisError(str(path), f"cannot be read ({error.strerror})", "record again")
        found.add(lines, str(path))
    if not found.total:
        raise AnalysisError(
            str(folder), f"arm {arm['name']} has no samples", "record longer (--seconds)"
        )
    return found
