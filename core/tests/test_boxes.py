"""Every research box of the record: it really runs, and the allocator is right with it on.

The slow ones run more programs with each; test_flips.py does so with both ends of every box."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from disassembly import output_of
from preload import BUILD, DEPCHAIN, LAB, PLAIN, ROOT, Arm, passes, program, run
from reports import report_of

MIB = 1 << 20
STRESS = ("stress", "3", "3", "1500")
STATISTICS = ("k25_statistics", "live_is_live")


def command(words: Sequence[str]) -> list[str | Path]:
    return [program(words[0]), *words[1:]]


def arm(name: str, *boxes: str) -> Arm:
    """`boxes` are like CACHE_BLOCKS=4."""
    return Arm(name, LAB, {f"HAKMEM_{box.split('=')[0]}": box.split("=")[1] for box in boxes})


FAULT = arm("no-drain", "DRAIN_SUPPRESSED=1")
HOARDING = arm("cache-1024", "CACHE_BLOCKS=1024")
"""Right, but it keeps more memory than the bounds allow."""

# Settings of data and slow boxes, and a program whose course they decide.
DECIDING = [
    (arm("cache-4", "CACHE_BLOCKS=4"), STATISTICS),
    (HOARDING, ("balance",)),
    (arm("remote-1", "REMOTE_BATCH=1"), STRESS),
    (arm("prewarm-16", "PREWARM=16"), ("balance",)),
    (arm("prewarm-256", "PREWARM=256"), ("balance",)),
    (arm("threaded", "THREADED_CARVE=1"), ("balance",)),
    (arm("by-address", "SLAB_ORDER=1"), ("balance",)),
    (arm("mappings-first", "CLASSIFY_ORDER=1"), STRESS),
    (arm("runs-first", "CLASSIFY_ORDER=2"), STRESS),
    (arm("c7-first", "CLASSIFY_ORDER=3"), STRESS),
    (arm("tiers-1", "REFILL_TIERS=1"), ("balance",)),
    (arm("tiers-2", "REFILL_TIERS=2"), ("balance",)),
    (arm("runs-4", "RUN_CACHE=4"), ("k25_statistics", "kept_runs_are_few_and_go_back")),
    (arm("superslab-2", "SUPERSLAB_2MIB=1"), STRESS),
    (arm("thp-all", "THP=1"), STRESS),
    (arm("thp-large", "THP=2"), STRESS),
    (arm("probe-each", "PROBE=1"), ("k25_statistics", "mappings_are_live")),
    (arm("probe-pages", "PROBE=2"), ("k25_statistics", "mappings_are_live")),
]

SLOTS = [f"INLINE_SLOTS_C{band}=1" for band in (4, 5, 6, 7)]
ALL_SLOTS = "inline_slots_c4_and_inline_slots_c5_and_inline_slots_c6_and_inline_slots_c7"

# Variants, and the box that each is named by.
SHAPES = [
    (arm("prefetch", "PREFETCH_NEXT=1"), "prefetch_next"),
    (arm("slots-c4", SLOTS[0]), "inline_slots_c4"),
    (arm("slots-c5", SLOTS[1]), "inline_slots_c5"),
    (arm("slots-c6", SLOTS[2]), "inline_slots_c6"),
    (arm("slots-c7", SLOTS[3]), "inline_slots_c7"),
    (arm("slots-all", *SLOTS), ALL_SLOTS),
    (arm("route-policy", *SLOTS, "ROUTE_POLICY=1"), "route_policy"),
    (arm("route-table", *SLOTS, "ROUTE_TABLE=1"), "route_table"),
    (arm("double-layer", "DOUBLE_LAYER=1"), "double_layer"),
    (arm("inline-tails", "INLINE_TAILS=1"), "inline_tails"),
    (arm("header", "HEADER_BYTE=1"), "header_byte"),
    (arm("header-inline", "HEADER_BYTE=1", "HEADER_WRITE_INLINE=1"), "header_write_inline"),
    (arm("header-own", "HEADER_BYTE=1", "HEADER_BYTE_OWN=1"), "header_byte_own"),
    (
        arm("header-all", "HEADER_BYTE=1", "HEADER_BYTE_OWN=1", "HEADER_WRITE_INLINE=1"),
        "header_byte_and_header_byte_own_and_header_write_inline",
    ),
    (arm("tree", "REGISTRY_LOOKUP=1"), "registry_lookup"),
    (arm("mask", "CHUNK_MASK=1"), "chunk_mask"),
]
HEADERS = [box for box, _ in SHAPES if "HAKMEM_HEADER_BYTE" in box.env]
if BUILD.name == "debug":  # a header lies where its blocks have their canary
    SHAPES = [(box, variant) for box, variant in SHAPES if box not in HEADERS]


@pytest.mark.parametrize(("box", "words"), [*DECIDING, (FAULT, ("balance",))], ids=str)
def test_box_decides(box: Arm, words: Sequence[str], tmp_path: Path) -> None:
    report = report_of(box, tmp_path, command(words))
    for name, value in box.env.items():
        assert report["boxes"][name]["value"] == int(value)
        assert report["boxes"][name]["uses"] > 0


@pytest.mark.skipif(BUILD.name != "debug", reason="refused where blocks have canaries")
def test_headers_and_canaries_exclude_each_other() -> None:
    for box in HEADERS:
        done = run(box, ["/bin/echo", "main"])
        assert (done.returncode, done.stdout) == (-signal.SIGABRT, "")
        assert "debug and hardened builds have canaries there" in done.stderr


@pytest.mark.parametrize(("box", "variant"), SHAPES, ids=str)
def test_variant_serves(box: Arm, variant: str, tmp_path: Path) -> None:
    report = report_of(box, tmp_path, command(STRESS))
    assert set(report["entries"].values()) == {variant}
    if report["profile"] == "observe":
        assert all(report["boxes"][name]["uses"] > 0 for name in box.env)


CORRECT = [
    STRESS,
    ("k02_aligned", "accepted_alignments"),
    ("k07_usable_size",),
    ("k11_entry_points", "every_pair"),
    ("k13_fork", "20"),
    ("k14_thread_ends", "destructors_that_allocate"),
    ("k18_address_space", "realloc_across_kinds"),
]
BOUNDED = [
    ("k14_thread_ends", "waves"),
    ("k16_producer_consumer", "consumer_never_allocates"),
    ("k24_given_back",),
    ("larson", "3", "8", "3000"),
]
SOUND = [box for box, _ in (*DECIDING, *SHAPES)]


@pytest.mark.slow
@pytest.mark.parametrize("box", SOUND, ids=str)
@pytest.mark.parametrize("words", CORRECT, ids="-".join)
def test_correct_with_the_box_on(box: Arm, words: Sequence[str]) -> None:
    passes(box, command(words))


@pytest.mark.slow
@pytest.mark.parametrize("box", [box for box in SOUND if box is not HOARDING], ids=str)
@pytest.mark.parametrize("words", BOUNDED, ids="-".join)
def test_memory_is_bounded_with_the_box_on(box: Arm, words: Sequence[str]) -> None:
    passes(box, command(words))


LAYOUTS = ("prewarm-256", "superslab-2", "thp-all", "header", "tree", "mask")


@pytest.mark.parametrize("box", [box for box in SOUND if box.name in LAYOUTS], ids=str)
def test_under_a_limit_with_the_box_on(box: Arm) -> None:
    passes(box, ["/bin/true"], address_space=64 * MIB)
    quiet = {"HAKMEM_OOM_REPORT": "0"}
    passes(box, command(("k18_address_space", "under_limit")), env=quiet, address_space=128 * MIB)


def balance_of(box: Arm, path: Path, words: Sequence[str]) -> dict[str, Any]:
    """HAKMEM_STATS of one process at its exit."""
    done = run(box, command(words), env={"HAKMEM_STATS": f"json:{path}"})
    assert (done.returncode, done.stderr) == (0, ""), done
    return dict(json.loads(path.read_text(encoding="utf-8")))


def test_the_balance_shows_a_drain_that_is_suppressed(tmp_path: Path) -> None:
    def row_of(box: Arm) -> dict[str, Any]:
        classes = balance_of(box, tmp_path / box.name, ("balance",))["classes"]
        (row,) = [row for row in classes if row["size"] == 64]
        return dict(row)

    plain, fault = row_of(PLAIN), row_of(FAULT)
    assert plain["freed"] > plain["allocated"] * 0.9 and plain["balanced"]
    assert fault["allocated"] >= 20000 and fault["freed"] == 0 and not fault["balanced"]


def test_a_suppressed_drain_is_said_in_the_leak_report() -> None:
    done = run(FAULT, command(("balance",)), env={"HAKMEM_LEAK_REPORT": "1"})
    said = (
        r"^hakmem: balance: of class 64, 2\d{4} blocks were allocated, 0 came back to their slabs "
    )
    assert re.search(
        said + r"and 2\d{4} freed ones lie in caches that give none back$", done.stderr, re.M
    ), done.stderr


@pytest.mark.parametrize("box", SOUND, ids=str)
def test_every_block_is_accounted_for(box: Arm, tmp_path: Path) -> None:
    """With a box on, the program lives in as many blocks as without; caches hold the rest."""

    def live(which: Arm) -> list[int]:
        found = balance_of(which, tmp_path / which.name, ("balance",))
        assert all(row["balanced"] for row in found["classes"])
        return [sum(row["live"] for row in found["classes"]), found["large_live"]]

    assert live(box) == live(PLAIN)


def test_the_double_layer_shows_why_it_is_slow(tmp_path: Path) -> None:
    """Each of the 60,000 allocations first fails to refill the upper layer."""
    stats = report_of(arm("double", "DOUBLE_LAYER=1"), tmp_path, command(("balance",)))["stats"]
    assert stats["failed_refills"] >= 60000 - stats["refills"]


def test_rings_overflow_into_the_bins(tmp_path: Path) -> None:
    """The program frees 2000 blocks of 100 bytes in a row; a ring holds 64."""
    stats = report_of(arm("slots", SLOTS[0]), tmp_path, command(STATISTICS))["stats"]
    assert stats["slot_overflows"] >= 2000 - 64


@pytest.mark.parametrize(
    ("boxes", "said"),
    [
        (
            ["DOUBLE_LAYER=1", "REFILL_TIERS=1"],
            "HAKMEM_DOUBLE_LAYER=1 excludes HAKMEM_REFILL_TIERS",
        ),
        (["ROUTE_TABLE=1"], "HAKMEM_ROUTE_TABLE=1 needs HAKMEM_INLINE_SLOTS_C4"),
        (["PREFETCH_NEXT=1", "INLINE_TAILS=1"], "this build has no variant for the combination"),
    ],
    ids=["excludes", "requires", "no-variant"],
)
def test_combinations_are_refused_in_one_line(boxes: list[str], said: str) -> None:
    done = run(arm("lab", *boxes), ["/bin/echo", "main"])
    assert (done.returncode, done.stdout) == (78, "")
    assert said in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_probe_names_what_is_not_mapped() -> None:
    for box in ("PROBE=1", "PROBE=2"):
        done = run(arm("probe", box), [program("k22_foreign"), "mmap", "free"])
        assert done.returncode == -signal.SIGABRT
        assert "free(): not a pointer" in done.stderr
    done = run(arm("probe", "PROBE=1"), [program("k22_foreign"), "small_number", "free"])
    assert done.returncode == -signal.SIGABRT and "nothing is mapped before it" in done.stderr


# --- what is refused -------------------------------------------------------------------------------


def defined(field: str) -> dict[str, str]:
    """That field of every box of boxes.def that has it, by ENV name."""
    text = (ROOT / "boxes" / "boxes.def").read_text(encoding="utf-8")
    entries = re.findall(r"HAKMEM_BOX\((.*?)\)\n(?=\n|\Z)", text, re.DOTALL)
    found = {}
    for entry in entries:
        fields = dict(re.findall(r"\.(\w+) = \"?([^\",]*)", entry))
        if field in fields:
            found[fields["env"]] = fields[field]
    return found


RESEARCH = sorted(
    name for name, status in defined("status").items() if status == "Status::research"
)
ELSEWHERE = {"HAKMEM_BURN", "HAKMEM_SHAPE_NULL", *DEPCHAIN.env, "HAKMEM_C7_ULTRA_HEADER_LIGHT"}
"""Boxes with tests of their own."""
IN_BOTH_LIBRARIES = {"HAKMEM_RUN_CACHE", "HAKMEM_THP"}
"""Boxes for users too, that have an experiment of the record."""


def test_every_box_of_the_record_is_tested_and_has_its_experiment() -> None:
    record = (set(RESEARCH) - ELSEWHERE) | IN_BOTH_LIBRARIES
    assert record == {name for box in [*SOUND, *HEADERS, FAULT] for name in box.env}
    folder = ROOT / "experiments" / "record"
    experiments = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.json"))
    assert {name for name in record if f'"{name}"' not in experiments} == set()


@pytest.mark.parametrize("name", RESEARCH)
def test_the_library_for_people_has_no_research_box(name: str) -> None:
    if name in defined("requires_ids"):
        pytest.skip("what it requires is refused first")
    default, most = int(defined("default_value")[name]), int(defined("maximum")[name])
    value = most if most != default else int(defined("minimum")[name])
    done = run(Arm("standard", PLAIN.library, {name: str(value)}), ["/bin/echo", "main"])
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr == (
        f"hakmem: {name}={value}: libhakmem.so has no research boxes, "
        "use libhakmem-lab.so; using the defaults\n"
    )


@pytest.mark.parametrize("name", sorted(set(defined("minimum")) - set(defined("profile"))))
def test_values_out_of_range_are_refused(name: str) -> None:
    for value in (int(defined("minimum")[name]) - 1, int(defined("maximum")[name]) + 1):
        done = run(arm("lab", f"{name.removeprefix('HAKMEM_')}={value}"), ["/bin/echo", "main"])
        assert (done.returncode, done.stdout) == (78, "")
        assert done.stderr.startswith(f"hakmem: {name}={value}: not a number from ")
        assert done.stderr.count("\n") == 1


def test_the_lab_with_all_boxes_is_small() -> None:
    assert LAB.stat().st_size - debug_bytes(LAB) <= MIB


def debug_bytes(library: Path) -> int:
    """Size of the sections that a stripped library has not."""
    lines = output_of("readelf", "-SW", library).splitlines()
    rows = [re.match(r"\s*\[ *\d+\] (\.\S+)\s+\S+\s+\S+ \S+ (\S+)", line) for line in lines]
    strippable = re.compile(r"\.(debug_|symtab|strtab|comment)")
    return sum(int(row[2], 16) for row in rows if row and strippable.match(row[1]))
