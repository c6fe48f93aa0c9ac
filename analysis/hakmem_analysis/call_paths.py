"""Timed calls by the path that each took in the allocator, over the runs of an arm."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median

import pandas as pd

from .files import Json

PATHS = {
    "fast": "fast path",
    "refill": "refill or trim",
    "remote": "remote frees",
    "slab": "slab or run",
    "system": "system call",
    "purge": "purge",
    "thread": "first call of a thread",
}
"""hakbench's names of paths, in words; the deepest last."""

SLOW_FAST = "fast path (interrupt or page fault)"
"""What the fast path is called among slow calls: its own instructions do not take so long."""

NOT_MEASURED = "not measured: the allocator has no `hakmem_thread_paths`"
NOT_RECORDED = "not recorded: the run is older than the attribution"
SLOWEST = 8


@dataclass(frozen=True)
class PathTimes:
    """One path. Times in ns; percentiles are medians of the runs, `max_ns` is of all runs. `beyond`:
    calls beyond the p99.9 of their own run, whatever their path."""

    path: str
    calls: int
    total_ns: float
    p50_ns: float
    p99_ns: float
    max_ns: float
    beyond: int


@dataclass(frozen=True)
class CallPaths:
    """All timed calls of one arm in one cell. `paths` is empty where they are unknown, and `missing`
    says why. `slowest`: `{"ns", "call", "size", "path"}`, the slowest first."""

    runs: int
    calls: int
    p50_ns: float
    p99_ns: float
    p99_9_ns: float
    max_ns: float
    paths: tuple[PathTimes, ...]
    missing: str
    slowest: tuple[Json, ...]

    @property
    def total_ns(self) -> float:
        return sum(path.total_ns for path in self.paths)

    @property
    def beyond(self) -> int:
        """Calls beyond p99.9."""
        return sum(path.beyond for path in self.paths)

    @property
    def owner(self) -> PathTimes | None:
        """The path with most of the calls beyond p99.9; None where there are none."""
        owner = max(self.paths, key=lambda path: path.beyond, default=None)
        return owner if owner is not None and owner.beyond else None


def call_paths(samples: pd.DataFrame) -> CallPaths | None:
    """Of the valid samples of one arm in one cell; None where no run timed its calls."""
    timed = [
        record["latency_ns"]
        for record in samples["record"]
        if isinstance(record, dict) and isinstance(record.get("latency_ns"), dict)
    ]
    timed = [one for one in timed if one.get("samples")]
    if not timed:
        return None
    by_path: dict[str, list[Json]] = defaultdict(list)
    for one in timed:
        for name, times in (one.get("paths") or {}).items():
            by_path[name].append(times)
    missing = NOT_MEASURED if "paths" in timed[0] else NOT_RECORDED
    slowest = [call for one in timed for call in one.get("slowest") or []]
    return CallPaths(
        runs=len(timed),
        calls=sum(one["samples"] for one in timed),
        p50_ns=median(one["p50"] for one in timed),
        p99_ns=median(one["p99"] for one in timed),
        p99_9_ns=median(one["p99_9"] for one in timed),
        max_ns=max(one["max"] for one in timed),
        paths=tuple(_of_path(name, by_path[name]) for name in PATHS if name in by_path),
        missing="" if by_path else missing,
        slowest=tuple(sorted(slowest, key=lambda call: float(call["ns"]), reverse=True)[:SLOWEST]),
    )


def _of_path(name: str, runs: list[Json]) -> PathTimes:
    return PathTimes(
        name,
        calls=sum(times["samples"] for times in runs),
        total_ns=sum(times["total"] for times in runs),
        p50_ns=median(times["p50"] for times in runs),
        p99_ns=median(times["p99"] for times in runs),
        max_ns=max(times["max"] for times in runs),
        beyond=sum(times["beyond_p99_9"] for times in runs),
    )


def tail_name(path: str) -> str:
    """A path in words, where it is that of a slow call."""
    return SLOW_FAST if path == "fast" else PATHS.get(path, path)
