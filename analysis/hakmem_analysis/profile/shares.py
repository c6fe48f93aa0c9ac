"""Ranked functions with their share of the samples and its interval."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from ..stats.multiple import proportion_interval
from .kinds import Kind, file_of, is_owned, kind_of
from .samples import Frame, Recordings


@dataclass(frozen=True)
class Share:
    """A part of all samples: `count` of `total`, in % with Wilson's 95 % interval."""

    count: int
    total: int

    @property
    def pct(self) -> float:
        return 100.0 * self.count / self.total

    @property
    def ci95_pct(self) -> tuple[float, float]:
        low, high = proportion_interval(self.count, self.total)
        return 100.0 * low, 100.0 * high


@dataclass(frozen=True)
class Ranked:
    """One function. `self_share`: it ran; `whole_share`: it or what it called ran; `runs_pct`: its
    self share in each recording. An unnamed function stands for all of its file."""

    frame: Frame
    kind: Kind
    self_share: Share
    whole_share: Share
    runs_pct: tuple[float, ...]


@dataclass(frozen=True)
class Shares:
    """All of one arm. `unknown`: samples without a name; `unknown_ours`: those of them in files that
    this project built; `owned`: the allocator and what it called; `asked`: kernel time among it."""

    ranked: tuple[Ranked, ...]
    by_kind: dict[Kind, Share]
    owned: Share
    asked: Share
    unknown: Share
    unknown_ours: Share


def shares_of(found: Recordings, allocator: str, program: str) -> Shares:
    """Counts everything once over the stacks."""
    total, totals = found.total, found.totals
    own: dict[Frame, list[int]] = defaultdict(lambda: [0] * len(totals))
    whole: Counter[Frame] = Counter()
    kinds: Counter[Kind] = Counter()
    owned = asked = 0
    for stack, counts in found.stacks.items():
        count, leaf = sum(counts), stack[-1]
        for position, number in enumerate(counts):
            own[leaf][position] += number
        for frame in set(stack):
            whole[frame] += count
        kinds[kind_of(leaf, allocator, program)] += count
        if is_owned(stack, allocator):
            owned += count
            asked += count if leaf.is_kernel else 0
    ranked = [
        Ranked(
            frame,
            kind_of(frame, allocator, program),
            Share(sum(counts), total),
            Share(whole[frame], total),
            tuple(100.0 * c / t for c, t in zip(counts, totals) if t),
        )
        for frame, counts in own.items()
    ]
    ranked.sort(key=lambda item: (-item.self_share.count, item.frame))
    unknown = [item for item in ranked if not item.frame.is_known]
    ours = [item for item in unknown if file_of(item.frame.dso) in (allocator, program)]
    return Shares(
        tuple(ranked),
        {kind: Share(kinds[kind], total) for kind in Kind},
        Share(owned, total),
        Share(asked, total),
        Share(sum(item.self_share.count for item in unknown), total),
        Share(sum(item.self_share.count for item in ours), total),
    )


def amdahl_pct(share: float) -> float:
    """Greatest gain in % where a part of the time (in %) would cost nothing."""
    return 100.0 * share / (100.0 - share) if share < 100.0 else float("inf")


@dataclass(frozen=True)
class Difference:
    """A function in two arms: samples per million operations of each, and shares."""

    frame: Frame
    kind: Kind
    first: Share
    second: Share

    @property
    def change_pp(self) -> float:
        return self.second.pct - self.first.pct

    @property
    def is_clear(self) -> bool:
        """Whether the intervals do not touch."""
        return (
            self.first.ci95_pct[1] < self.second.ci95_pct[0]
            or self.second.ci95_pct[1] < self.first.ci95_pct[0]
        )


def differences(first: Shares, second: Shares) -> list[Difference]:
    """Functions of both arms, the largest change of the self share first. A function of one arm's
    allocator has no samples in the other."""
    totals = [shares.owned.total for shares in (first, second)]
    counts = [{item.frame: item for item in shares.ranked} for shares in (first, second)]
    found = []
    for frame in {**counts[0], **counts[1]}:
        pair = [table.get(frame) for table in counts]
        known = next(item for item in pair if item is not None)
        parts = [Share(item.self_share.count if item else 0, n) for item, n in zip(pair, totals)]
        found.append(Difference(frame, known.kind, parts[0], parts[1]))
    return sorted(found, key=lambda item: (-abs(item.change_pp), item.frame))
