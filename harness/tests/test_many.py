"""`hak run` of several experiments, and --check: nothing runs before a file is known to be right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Hak

RECORD = sorted((ROOT / "experiments" / "record").glob("*.json"))


def named(hak: Hak, name: str, *command: object, **changes: Any) -> Path:
    return hak.experiment(*command, phase=name, **changes).rename(hak.folder / f"{name}.json")


def test_all_run_and_each_has_a_line_in_the_end(hak: Hak) -> None:
    good, other = (named(hak, name, "/bin/sleep", "0.05") for name in ("good", "other"))
    bad = named(hak, "bad", "/no/such/program")
    result = hak("run", good, bad, other, "--results", hak.results, "-y")
    assert result.code == 2
    assert {path.parent.name for path in hak.results.glob("*/*")} == {"good", "other"}
    *_, first, second, third = result.out.splitlines()
    assert first == f"{good}: fake: GO" and third == f"{other}: fake: GO"
    assert second.startswith(f"{bad}: not run to its end: ") and "/no/such/program" in second


def test_resume_goes_with_one(hak: Hak) -> None:
    result = hak("run", "a.json", "b.json", "--resume", "x")
    assert result.code == 2 and result.err.count("\n") == 1


def test_check_runs_nothing(hak: Hak) -> None:
    good = named(hak, "good", "/bin/true")
    wrong = named(hak, "wrong", "/bin/true", runs=-1)
    result = hak("run", "--check", good, wrong)
    assert result.code == 2
    assert result.out == f"{good}: ok, 2 arms, 1 cells, 2 blocks\n"
    assert result.err.startswith(f"hak: {wrong}:") and result.err.count("\n") == 1
    assert hak.newest() is None
    assert hak("run", "--check").code == 2


def test_the_record_s_experiments_are_right(hak: Hak) -> None:
    assert len(RECORD) >= 10
    result = hak("run", "--check", *RECORD)
    # 3: the reference is not installed or a library not built, of which the file knows nothing.
    assert result.code in (0, 3), result.err


def boxes(*settings: dict[str, str], library: str = "lab") -> dict[str, Any]:
    arms = [{"name": f"arm{i}", "library": library, "env": env} for i, env in enumerate(settings)]
    return {"arms": arms, "workloads": [{"name": "random_mixed"}]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            boxes({}, {"HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN_OPT": "1"}),
            "HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN_OPT requires HAKMEM_C7_ULTRA",
        ),
        (boxes({}, {"HAKMEM_CACHE_BLOCKS": "3"}), '"3" is not a value of HAKMEM_CACHE_BLOCKS'),
        (
            boxes({}, {"HAKMEM_CACHE_BLOCKS": "64"}, library="standard"),
            'HAKMEM_CACHE_BLOCKS is a research box: only the library "lab" has its code',
        ),
        (
            boxes({}, {"HAKMEM_PREFETCH_NEXT": "1"}, library="standard"),
            'HAKMEM_PREFETCH_NEXT is a shape box: only the library "lab" has its variant',
        ),
        (
            boxes({}, {"HAKMEM_PREFETCH_NEXT": "1", "HAKMEM_C7_ULTRA": "1"}),
            "this build has no variant for HAKMEM_C7_ULTRA=1 with HAKMEM_PREFETCH_NEXT=1",
        ),
    ],
    ids=["requires", "range", "research", "shape", "combination"],
)
def test_what_a_build_cannot_do_is_refused_before_anything_runs(
    hak: Hak, changes: dict[str, Any], said: str
) -> None:
    result = hak("run", "--check", hak.experiment("/bin/true", **changes))
    assert result.code == 2
    assert said in result.err and result.err.count("\n") == 1, result.err
