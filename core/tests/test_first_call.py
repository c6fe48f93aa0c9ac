"""Kind 8: every entry point as the first call of the process, before any constructor has run, and as
the first call of a thread."""

from __future__ import annotations

import pytest

from preload import ARMS, DEPCHAIN, LIBRARIES, Arm, passes, program

ENTRY_POINTS = [
    "malloc",
    "large",
    "direct",
    "calloc",
    "calloc_large",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "memalign",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "new",
    "free",
    "realloc_old",
    "malloc_usable_size",
    "malloc_trim",
    "mallinfo2",
    "mallopt",
]


@pytest.mark.parametrize("arm", [*LIBRARIES, DEPCHAIN], ids=str)
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_k08_before_constructors(arm: Arm, entry: str) -> None:
    passes(arm, [program("k08_first_call"), entry])


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_k08_first_call_of_a_thread(arm: Arm) -> None:
    passes(arm, [program("k08_first_call")])
