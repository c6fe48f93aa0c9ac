"""Reads the allocator's heap profile (HAKMEM_HEAP_PROFILE; the text form that pprof reads too) and names
the call sites of the live bytes.

A block of n bytes is a sample with p = 1 - exp(-n / rate), independent of all others, and stands for
1 / p blocks: the sum over samples is an unbiased estimate, and the sum of (n / p)^2 (1 - p) one of its
variance."""

from __future__ import annotations

import math
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .errors import AnalysisError

HEAD = re.compile(r"heap profile: +(\d+): +(\d+) \[ *\d+: +\d+\] @ heap_v2/([1-9]\d*)$")
SAMPLE = re.compile(r" *(\d+): +(\d+) \[ *\d+: +\d+\] @((?: 0x[0-9a-f]+)*)$")
MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +(\S.*)$")
ALLOCATOR = re.compile(
    r"hakmem::|hakmem_|operator new|(malloc|calloc|realloc|reallocarray|memalign|aligned_alloc"
    r"|posix_memalign|p?valloc)$"
)
"""Functions of the allocator, where it is linked into the program."""


@dataclass(frozen=True)
class Mapping:
    start: int
    end: int
    offset: int
    path: str


@dataclass(frozen=True)
class Sample:
    size: int
    """Bytes of the block."""
    frames: tuple[int, ...]
    """Return addresses, the caller of malloc first."""


@dataclass
class Estimate:
    """What is live, as far as samples tell."""

    blocks: float = 0
    size: float = 0
    """Bytes."""
    variance: float = 0
    """Of `size`."""

    def add(self, size: int, rate: int) -> None:
        """One sample, of a profile with so many bytes a sample."""
        chance = -math.expm1(-size / rate)
        self.blocks += 1 / chance
        self.size += size / chance
        self.variance += (size / chance) ** 2 * (1 - chance)

    @property
    def error(self) -> float:
        """Standard error of `size`."""
        return math.sqrt(self.variance)


@dataclass(frozen=True)
class HeapProfile:
    rate: int
    """Mean bytes from one sample to the next."""
    samples: tuple[Sample, ...]
    mappings: tuple[Mapping, ...]

    def estimate(self, samples: Iterable[Sample]) -> Estimate:
        estimate = Estimate()
        for sample in samples:
            estimate.add(sample.size, self.rate)
        return estimate


def read_profile(path: Path) -> HeapProfile:
    """The profile of a file. Raises AnalysisError with the line that is wrong."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise AnalysisError(str(path), str(error.strerror), "name a heap profile") from error
    head = HEAD.match(lines[0]) if lines else None
    if head is None:
        advice = "HAKMEM_HEAP_PROFILE=FILE writes one"
        raise AnalysisError(f"{path}:1", "not a heap profile", advice)
    if "MAPPED_LIBRARIES:" not in lines:
        raise AnalysisError(
            str(path), "has no MAPPED_LIBRARIES: cut", "let the process end by itself"
        )
    end = lines.index("MAPPED_LIBRARIES:")
    samples: list[Sample] = []
    for number, line in enumerate(lines[1:end], start=2):
        if not line:
            continue
        match = SAMPLE.match(line)
        if match is None or int(match[1]) == 0:
            raise AnalysisError(f"{path}:{number}", "not a sample", "is the file damaged?")
        blocks = int(match[1])
        frames = tuple(int(word, 16) for word in match[3].split())
        samples += [Sample(max(int(match[2]) // blocks, 1), frames)] * blocks
    mappings = [
        Mapping(int(m[1], 16), int(m[2], 16), int(m[3], 16), m[4])
        for m in map(MAPPING.match, lines[end + 1 :])
        if m
    ]
    return HeapProfile(int(head[3]), tuple(samples), tuple(mappings))


def is_position_independent(path: str) -> bool:
    with open(path, "rb") as file:
        header = file.read(18)
    return int.from_bytes(header[16:18], "little") == 3  # ET_DYN


def symbolised(path: str, addresses: list[int]) -> list[str]:
    """Function names by addr2line; "??" where it has none."""
    command = ["addr2line", "-f", "-C", "-e", path, *(hex(address) for address in addresses)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:  # no binutils: offsets have to do
        return ["??"] * len(addresses)
    names = done.stdout.splitlines()[::2]
    return names if len(names) == len(addresses) else ["??"] * len(addresses)


def names_of(profile: HeapProfile, frames: Iterable[int]) -> dict[int, str]:
    """A name for each return address: the function, else library and offset."""
    base: dict[str, int] = {}
    for mapping in profile.mappings:
        base[mapping.path] = min(mapping.start, base.get(mapping.path, mapping.start))
    by_path: dict[str, list[int]] = defaultdict(list)
    names = {}
    for frame in set(frames):
        mapping_of = next((m for m in profile.mappings if m.start <= frame < m.end), None)
        names[frame] = hex(frame)
        if mapping_of is not None:
            names[frame] = f"{Path(mapping_of.path).name}+{frame - base[mapping_of.path]:#x}"
            by_path[mapping_of.path].append(frame)
    for path, found in by_path.items():
        if not Path(path).is_file():
            continue
        low = base[path] if is_position_independent(path) else 0
        # A return address is behind its call.
        for frame, name in zip(found, symbolised(path, [frame - low - 1 for frame in found])):
            names[frame] = name if name != "??" else names[frame]
    return names


def call_site(frames: tuple[int, ...], names: dict[int, str]) -> str:
    """The first callers outside the allocator."""
    callers = [names[frame] for frame in frames]
    while callers and ALLOCATOR.match(callers[0]):
        del callers[0]
    return " < ".join(callers[:4]) or "(no stack)"


def table(profile: HeapProfile, top: int = 20) -> str:
    """The call sites with the most live bytes, each with its callers and a standard error."""
    names = names_of(profile, (frame for sample in profile.samples for frame in sample.frames))
    sites: dict[str, list[Sample]] = defaultdict(list)
    for sample in profile.samples:
        sites[call_site(sample.frames, names)].append(sample)
    total = profile.estimate(profile.samples)
    lines = [
        f"{total.size / 2**20:.1f} +- {total.error / 2**20:.1f} MiB live, estimated from "
        f"{len(profile.samples)} samples, {profile.rate} bytes a sample"
    ]
    found = [(profile.estimate(samples), site) for site, samples in sites.items()]
    for estimate, site in sorted(found, key=lambda item: (-item[0].size, item[1]))[:top]:
        share = 100 * estimate.size / total.size
        lines.append(
            f"{estimate.size / 2**20:10.1f} +- {estimate.error / 2**20:6.1f} MiB {share:5.1f} % "
            f"{estimate.blocks:10.0f} blocks  {site}"
        )
    return "\n".join(lines) + "\n"
