"""The kinds of fault that malloc replacements have had in public, each as a program of its own
(programs/kNN_*.cpp), under each library and each setting of the boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from preload import ARMS, LIBRARIES, Arm, passes, program, run

MIB = 1 << 20
NO_REPORT = {"HAKMEM_OOM_REPORT": "0"}

# program, case ("" for all of the program's cases in one process)
EVERYWHERE = [
    ("k01_alignment", ""),
    ("k02_aligned", "refused_alignments"),
    ("k02_aligned", "accepted_alignments"),
    ("k02_aligned", "out_of_memory"),
    ("k02_aligned", "aligned_alloc_small_alignments"),
    ("k02_aligned", "aligned_alloc_invalid"),
    ("k02_aligned", "memalign_rounds_up"),
    ("k02_aligned", "page_forms"),
    ("k04_too_large", ""),
    ("k06_zero_size", ""),
    ("k07_usable_size", ""),
    ("k09_errno", "all_forms"),
    ("k09_errno", "locked_memory"),
    ("k10_new_handler", "handler_in_a_loop"),
    ("k10_new_handler", "nothrow_gives_null"),
    ("k10_new_handler", "handler_that_throws"),
    ("k10_new_handler", "nothrow_with_handler_that_throws"),
    ("k11_entry_points", "served_by_hakmem"),
    ("k11_entry_points", "every_pair"),
    ("k11_entry_points", "information"),
    ("k11_entry_points", "mallinfo_is_there"),
    ("k11_entry_points", "trim_tells"),
    ("k12_wrong_size", ""),
    ("k14_thread_ends", "destructors_that_allocate"),
    ("k14_thread_ends", "short_lived"),
    ("k14_thread_ends", "block_outlives_thread"),
    ("k14_thread_ends", "long_lived_blocks"),
    ("k14_thread_ends", "never_allocates"),
    ("k14_thread_ends", "waves"),
    ("k16_producer_consumer", "consumer_never_allocates"),
    ("k16_producer_consumer", "consumer_also_allocates"),
    ("k16_producer_consumer", "producers_exit"),
    ("k17_own_limit", "setrlimit"),
    ("k17_own_limit", "setrlimit64"),
    ("k17_own_limit", "prlimit"),
    ("k17_own_limit", "prlimit64"),
    ("k17_own_limit", "lower_than_what_is_in_use"),
    ("k17_own_limit", "twice"),
    ("k18_address_space", "few_mappings"),
    ("k18_address_space", "lazy_calloc_256k"),
    ("k18_address_space", "lazy_calloc_8m"),
    ("k18_address_space", "lazy_calloc_1g"),
    ("k18_address_space", "calloc_of_used_memory"),
    ("k18_address_space", "calloc_clears_what_is_dirty"),
    ("k18_address_space", "realloc_moves_pages"),
    ("k18_address_space", "realloc_across_kinds"),
    ("k20_exit", ""),
    ("k21_hooks", ""),
    ("k25_statistics", "live_is_live"),
    ("k25_statistics", "runs_are_live"),
    ("k25_statistics", "mappings_are_live"),
    ("k25_statistics", "failures_and_reallocs"),
    ("k25_statistics", "after_threads"),
    ("k25_statistics", "caches_grow_with_their_use"),
    ("k25_statistics", "kept_runs_are_few_and_go_back"),
    ("k25_statistics", "while_running"),
]


@pytest.mark.parametrize("arm", ARMS, ids=str)
@pytest.mark.parametrize(("name", "case"), EVERYWHERE, ids=str)
def test_kind(arm: Arm, name: str, case: str) -> None:
    said = passes(arm, [program(name), *([case] if case else [])], env=NO_REPORT)
    if said.startswith("SKIP: "):
        pytest.skip(said.strip())


OUT_OF_MEMORY = [
    "recovers_small",
    "recovers_c7",
    "recovers_medium",
    "recovers_large",
    "recovers_in_other_sizes",
    "handler_frees_and_new_succeeds",
]


@pytest.mark.parametrize("arm", ARMS, ids=str)
@pytest.mark.parametrize("case", OUT_OF_MEMORY)
def test_k10_new_recovers_under_a_limit(arm: Arm, case: str) -> None:
    passes(arm, [program("k10_new_handler"), case], env=NO_REPORT, address_space=256 * MIB)


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_k13_fork_storm(arm: Arm) -> None:
    passes(arm, [program("k13_fork"), "100" if arm in LIBRARIES else "40"])


@pytest.mark.parametrize("arm", ARMS, ids=str)
@pytest.mark.parametrize("limit", [64, 65, 100, 128, 512, 4096])
def test_k17_runs_under_a_limit_of_the_address_space(arm: Arm, limit: int) -> None:
    passes(arm, ["/bin/true"], address_space=limit * MIB)
    passes(arm, ["/bin/sh", "-c", "echo $(echo a)"], address_space=limit * MIB)
    if limit <= 128:
        command: list[str | Path] = [program("k18_address_space"), "under_limit"]
        passes(arm, command, env=NO_REPORT, address_space=limit * MIB)


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_k24_memory_goes_back(arm: Arm) -> None:
    never = arm.env.get("HAKMEM_PURGE_DELAY") == "-1"
    passes(arm, [program("k24_given_back"), *(["never"] if never else [])])


@pytest.mark.parametrize("library", LIBRARIES, ids=str)
def test_k20_dlopen_and_dlclose(library: Arm) -> None:
    passes(None, [program("k20_dlopen"), library.library])


@pytest.mark.parametrize("library", LIBRARIES, ids=str)
def test_k19_mlockall_does_not_count_the_reservation(library: Arm) -> None:
    if run(None, [program("lock_all")]).returncode == 77:
        pytest.skip("locked memory has no limit here, or none may be locked")
    passes(library, [program("lock_all")])
