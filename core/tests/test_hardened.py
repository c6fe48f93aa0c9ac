"""The hardened build: each misuse ends at once with a message that names address and class; each part
can be skipped by its box; and the kinds of fault pass as they do in the default build."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from preload import PLAIN, STANDARD, Arm, passes, program, run
from reports import profile
from test_kinds import EVERYWHERE, NO_REPORT

CLASS = 112
"""Of 100 bytes and the canary."""


@pytest.fixture(autouse=True)
def only_hardened(tmp_path: Path) -> None:
    folder = tmp_path / "profile"
    folder.mkdir()
    if profile(PLAIN, folder) != "hardened":
        pytest.skip("this build is not hardened")


def skipping(box: str, value: str = "1") -> Arm:
    return Arm(box, STANDARD, {box: value})


MESSAGES = [
    ("double_free", "free(): block was freed twice"),
    ("double_free_elsewhere", "free(): block was freed twice"),
    ("overflow_by_one", "free(): written beyond the end of the block"),
    ("overflow_freed_elsewhere", "free(): written beyond the end of the block"),
    ("write_after_free", "malloc(): free block was written to"),
]


@pytest.mark.parametrize(("case", "message"), MESSAGES)
def test_small_misuse(case: str, message: str) -> None:
    done = run(PLAIN, [program("misuse"), case])
    assert done.returncode == -signal.SIGABRT, done
    address = done.stdout.strip()
    assert done.stderr == f"hakmem: {message}: {address} (small block of class {CLASS})\n"


def test_pointer_into_a_block() -> None:
    done = run(PLAIN, [program("misuse"), "inside_a_block"])
    assert done.returncode == -signal.SIGABRT, done
    address = hex(int(done.stdout, 16) + 16)
    message = (
        f"hakmem: free(): not the start of a block: {address} (small block of class {CLASS})\n"
    )
    assert done.stderr == message


def test_overwritten_link() -> None:
    done = run(PLAIN, [program("misuse"), "link_overwritten"])
    assert done.returncode == -signal.SIGABRT, done
    assert done.stderr == f"hakmem: free list: link was overwritten: {done.stdout.strip()}\n"


def test_large_double_free() -> None:
    done = run(PLAIN, [program("misuse"), "large_double_free"])
    assert done.returncode == -signal.SIGABRT, done
    address = done.stdout.strip()
    assert done.stderr == (
        f"hakmem: free(): not a pointer of this allocator, or freed twice: {address}\n"
    )


@pytest.mark.parametrize("case", ["large_overflow", "direct_overflow"])
def test_guard_page(case: str) -> None:
    assert run(PLAIN, [program("misuse"), case]).returncode == -signal.SIGSEGV


def test_guard_pages_may_be_skipped() -> None:
    arm = skipping("HAKMEM_SKIP_GUARD_PAGES")
    assert run(arm, [program("misuse"), "large_overflow"]).returncode == 0


@pytest.mark.parametrize(("value", "read"), [("0", "00"), ("1", "55"), ("2", "00"), ("3", "df")])
def test_freed_memory_is_filled(value: str, read: str) -> None:
    arm = skipping("HAKMEM_FREE_FILL", value)
    assert passes(arm, [program("misuse"), "read_after_free"]).split()[1] == read


def test_canaries_may_be_skipped() -> None:
    arm = skipping("HAKMEM_SKIP_CANARIES")
    assert run(arm, [program("misuse"), "overflow_by_one"]).returncode == 0


def test_free_checks_may_be_skipped() -> None:
    """The default's own check of the mark still finds it."""
    arm = skipping("HAKMEM_SKIP_FREE_CHECKS")
    done = run(arm, [program("misuse"), "inside_a_block"])
    assert "not the start of a block" not in done.stderr


def places(arm: Arm) -> list[int]:
    return [int(line) for line in passes(arm, [program("misuse"), "places"]).split()]


def test_placement_is_random() -> None:
    in_order = places(skipping("HAKMEM_SKIP_RANDOM_PLACEMENT"))
    assert len({distance for distance in in_order if 0 < distance < 4096}) == 1
    seen = {tuple(places(PLAIN)) for _ in range(8)}
    assert len(seen) > 1, "eight processes placed alike"


def test_links_are_encoded() -> None:
    assert passes(PLAIN, [program("misuse"), "stored_links"]) == "0\n"
    plain = passes(skipping("HAKMEM_SKIP_LINK_ENCODING"), [program("misuse"), "stored_links"])
    assert int(plain) > 40


ONE_MAPPING_A_GUARD = ("k18_address_space", "few_mappings")
"""80,000 large blocks: the first 8,192 have a guard page, each a mapping more."""


@pytest.mark.parametrize(
    ("name", "case"), [kind for kind in EVERYWHERE if kind != ONE_MAPPING_A_GUARD], ids=str
)
def test_kind(name: str, case: str) -> None:
    passes(PLAIN, [program(name), *([case] if case else [])], env=NO_REPORT)


@pytest.mark.parametrize(
    "box",
    [
        "HAKMEM_SKIP_FREE_CHECKS",
        "HAKMEM_SKIP_CANARIES",
        "HAKMEM_SKIP_LINK_ENCODING",
        "HAKMEM_SKIP_GUARD_PAGES",
        "HAKMEM_SKIP_RANDOM_PLACEMENT",
        "HAKMEM_FREE_FILL",
    ],
)
def test_stress_with_each_part_skipped(box: str) -> None:
    passes(skipping(box), [program("stress"), "2", "3", "2000"])
