"""What a function is to the allocator: its fast path, its slow path, the workload, the kernel."""

from __future__ import annotations

import re
from enum import Enum

from .samples import Frame, Stack


class Kind(Enum):
    FAST = "allocator fast path"
    SLOW = "allocator slow path"
    WORKLOAD = "workload"
    KERNEL = "kernel"
    OTHER = "other"

    @property
    def is_allocator(self) -> bool:
        return self in (Kind.FAST, Kind.SLOW)


_ALLOCATORS = re.compile(r"lib(hakmem|mimalloc|jemalloc|tcmalloc|snmalloc|rpmalloc|nullalloc)")
_LIBC = re.compile(r"libc(\.so\.6|-2\.\d+\.so)$")
_LAMBDA = re.compile(r"\{lambda\([^{}]*\)(#\d+)\}")
_SYSTEM = re.compile(r"lib(c|m|pthread|dl)(\.so|-2)|ld-linux|\[")
_ENTRIES = re.compile(
    r"^(malloc|free|cfree|mi_malloc|mi_free|je_malloc|je_free|tc_malloc|tc_free"
    r"|operator (new|delete)(\[\])?(\(.*)?|hakmem_\w+_(malloc|free|new))$"
)
# Names by which glibc keeps its allocator; a caller outside them is not it.
_LIBC_MALLOC = re.compile(
    r"^(_int_(malloc|free|realloc|memalign)\w*|(__libc_)?(malloc|free|cfree|calloc|realloc|memalign)"
    r"|malloc_consolidate|unlink_chunk\S*|sysmalloc|systrim\S*|tcache_\w+|_mid_memalign\S*"
    r"|munmap_chunk|arena_get\w*|heap_trim|alloc_perturb|aligned_alloc|posix_memalign)$"
)


def file_of(dso: str) -> str:
    """The file's name without its folder."""
    return dso.rsplit("/", 1)[-1]


def is_allocator(frame: Frame, allocator: str) -> bool:
    """Whether the frame belongs to the allocator of the arm, whose file is `allocator`."""
    name = file_of(frame.dso)
    if name == allocator and not _LIBC.search(name):
        return True
    if _ALLOCATORS.match(name):
        return True
    is_libc = bool(_LIBC.search(name)) and bool(_LIBC.search(allocator))
    return is_libc and bool(_LIBC_MALLOC.match(frame.symbol))


def kind_of(frame: Frame, allocator: str, program: str) -> Kind:
    """`allocator` and `program` are file names; "" for `program`: all but the C library is the
    workload."""
    if frame.is_kernel:
        return Kind.KERNEL
    if is_allocator(frame, allocator):
        return Kind.FAST if _ENTRIES.match(frame.symbol) else Kind.SLOW
    name = file_of(frame.dso)
    is_program = name == program if program else not _SYSTEM.match(name)
    return Kind.WORKLOAD if is_program else Kind.OTHER


def is_owned(stack: Stack, allocator: str) -> bool:
    """Whether the allocator, or what it called (the kernel above all), ran."""
    return any(is_allocator(frame, allocator) for frame in stack)


def short_name(symbol: str, most: int = 60) -> str:
    """A C++ name without template arguments and parameters, cut to `most` letters."""
    kept, depth = [], 0
    plain = _LAMBDA.sub(r"lambda\1", symbol).replace("(anonymous namespace)::", "")
    for letter in plain.replace("operator()", "operator\0"):
        if letter in "<({":
            depth += 1
        elif letter in ">)}" and depth:
            depth -= 1
        elif depth == 0:
            kept.append(letter)
    name = "".join(kept).replace("\0", "()").strip() or symbol
    return name if len(name) <= most else name[: most - 1] + "…"
