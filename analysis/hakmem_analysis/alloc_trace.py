"""Allocation traces of `hak record`: reads one, and says what is in it (harness/trace/format.hpp)."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .errors import AnalysisError

HEADER = struct.Struct("<8sIIQQQQQQ")
MAGIC = b"HAKTRACE"
VERSION = 1
ALLOCATE, ZEROED, FREE, RESIZE, ALIGNED, THREAD = range(6)
NAMES = ("malloc", "calloc", "free", "realloc", "aligned")


@dataclass
class TraceSummary:
    """Histograms have powers of two as keys: key k counts values from 2^(k-1) to 2^k - 1."""

    threads: int = 1
    events: int = 0
    file_bytes: int = 0
    foreign_frees: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    sizes: Counter[int] = field(default_factory=Counter)
    lifetimes: Counter[int] = field(default_factory=Counter)  # in events of all threads
    live_at_end: int = 0
    peak_bytes: int = 0
    remote_frees: int = 0

    def text(self) -> str:
        calls = ", ".join(f"{self.calls[name]:,} {name}" for name in NAMES if self.calls[name])
        return (
            f"{self.events:,} events of {self.threads} threads, {self.file_bytes:,} bytes "
            f"({self.file_bytes / max(self.events, 1):.2f} an event)\n{calls}\n"
            f"live at most {self.peak_bytes:,} bytes as asked for; {self.live_at_end:,} blocks "
            f"live at the end; {self.remote_frees:,} frees by another thread; "
            f"{self.foreign_frees:,} frees left out (blocks from before)\n"
        )


def _refuse(path: Path, what: str) -> AnalysisError:
    return AnalysisError(str(path), what, "hak record writes a new one")


class _Reader:
    def __init__(self, path: Path, payload: bytes) -> None:
        self.path, self.payload, self.at = path, payload, 0

    def number(self) -> int:
        value = shift = 0
        while True:
            if self.at == len(self.payload):
                raise _refuse(self.path, "the trace ends within an event")
            byte = self.payload[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value


class _Replay:
    """The slots as hakbench hands them out: a thread takes what it freed last, else a new one."""

    def __init__(self, summary: TraceSummary) -> None:
        self.summary = summary
        self.free_slots: dict[int, list[int]] = {}
        self.blocks: dict[int, tuple[int, int, int]] = {}  # slot: size, birth, thread
        self.slots = self.live_bytes = 0

    def born(self, thread: int, size: int) -> None:
        free = self.free_slots.get(thread)
        if free:
            slot = free.pop()
        else:
            slot, self.slots = self.slots, self.slots + 1
        self.blocks[slot] = (size, self.summary.events, thread)
        self.grown(size)

    def grown(self, size: int, old: int = 0) -> None:
        self.summary.sizes[size.bit_length()] += 1
        self.live_bytes += size - old
        self.summary.peak_bytes = max(self.summary.peak_bytes, self.live_bytes)

    def resized(self, slot: int, size: int) -> None:
        old, birth, thread = self.blocks[slot]
        self.blocks[slot] = (size, birth, thread)
        self.grown(size, old)

    def freed(self, thread: int, slot: int) -> None:
        size, birth, owner = self.blocks.pop(slot)
        self.live_bytes -= size
        self.summary.lifetimes[(self.summary.events - birth).bit_length()] += 1
        self.summary.remote_frees += owner != thread
        self.free_slots.setdefault(thread, []).append(slot)


def summarize(path: Path) -> TraceSummary:
    """Reads the trace at `path`. Raises AnalysisError where it is none, cut, or of another
    version."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise AnalysisError(str(path), str(error.strerror), "name a trace") from error
    if content[:8] != MAGIC or len(content) < HEADER.size:
        raise _refuse(path, "is not a trace, or is cut within its header")
    _, version, threads, events, _, length, _, foreign, _ = HEADER.unpack_from(content)
    if version != VERSION:
        raise _refuse(path, f"is of version {version} of the format, not {VERSION}")
    if length != len(content) - HEADER.size:
        raise _refuse(path, "is cut, or longer than it says")
    summary = TraceSummary(threads, file_bytes=len(content), foreign_frees=foreign)
    try:
        _count(_Reader(path, content[HEADER.size :]), summary)
    except KeyError as error:
        raise _refuse(path, "is damaged: it frees a block that is not there") from error
    if summary.events != events:
        raise _refuse(path, f"is damaged: {summary.events} events instead of {events}")
    return summary


def _count(reader: _Reader, summary: TraceSummary) -> None:
    replay, thread = _Replay(summary), 0
    while reader.at != len(reader.payload):
        first = reader.number()
        kind, value = first & 7, first >> 3
        if kind == THREAD:
            thread = value
            continue
        if kind > THREAD:
            raise _refuse(reader.path, "is damaged: an event of no known kind")
        if kind == FREE:
            replay.freed(thread, value)
        elif kind == RESIZE:
            replay.resized(value, reader.number())
        else:
            replay.born(thread, reader.number() if kind == ALIGNED else value)
        summary.events += 1
        summary.calls[NAMES[kind]] += 1
    summary.live_at_end = len(replay.blocks)
