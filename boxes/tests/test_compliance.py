"""The rules of boxes: every box keeps those that must hold, and a breach is seen."""

from __future__ import annotations

import datetime
import subprocess
import sys
from pathlib import Path

import pytest

import compliance
from compliance import Checked, boundary, conversion_point, reversible, side_effects
from registry import BUILD, ROOT, Box, boxes, setting
from reversing import short_trials

KNOWN = boxes()
HERE = Checked(ROOT, BUILD, KNOWN)
RESEARCH = [box for box in KNOWN.values() if box.status == "research"]


@pytest.mark.parametrize("box", RESEARCH, ids=lambda box: str(box.id))
def test_the_baseline_does_not_notice_it(box: Box) -> None:
    row = side_effects(HERE, box)
    assert row.status == "yes", row.evidence


@pytest.mark.parametrize("box", KNOWN.values(), ids=lambda box: str(box.id))
def test_it_is_reversible(box: Box) -> None:
    if BUILD.name == "debug" and "header_byte" in (box.id, *box.requires):
        pytest.skip("a header lies where blocks of this build have their canary")
    row = reversible(HERE, box, short_trials())
    assert row.status == "yes", row.evidence


@pytest.mark.parametrize("box", KNOWN.values(), ids=lambda box: str(box.id))
def test_it_decides_somewhere(box: Box) -> None:
    row = conversion_point(HERE, box)
    assert "none" not in row.evidence, row.evidence
    if not box.is_shape and BUILD.name == "standard":  # how others address it is their compiler's
        assert "0 reads" not in row.evidence, row.evidence


@pytest.mark.parametrize("box", RESEARCH, ids=lambda box: str(box.id))
def test_it_has_not_expired(box: Box) -> None:
    expiry = datetime.date.fromisoformat(box.expiry)
    assert expiry >= datetime.date.today(), (
        f"{box.env} expired on {box.expiry}: promote it (hak promote), or remove it and leave a card "
        "in results/cards/"
    )


def test_what_is_in_the_default_does_not_expire() -> None:
    assert [box.id for box in KNOWN.values() if box.status == "default-on" and box.expiry] == []


NEW = Box("first_idea", "HAKMEM_FIRST_IDEA", "shape", 0, 1, 0, "research", (), (), "2099-01-01")


def with_new_box(tree: Path) -> Checked:
    command = [sys.executable, str(ROOT / "boxes/new_box.py"), "box", NEW.id, "--kind", "shape"]
    subprocess.run([*command, "--root", str(tree)], check=True, capture_output=True)
    return Checked(tree, BUILD, {**KNOWN, NEW.id: NEW})


def test_a_new_box_keeps_the_rules(tree: Path) -> None:
    checked = with_new_box(tree)
    assert compliance.decisions(tree, NEW) == ["core/front/first_idea.hpp"]
    assert boundary(checked, NEW).status == "yes"
    assert side_effects(checked, NEW).status == "yes"


def test_a_baseline_that_notices_the_box_is_seen(tree: Path) -> None:
    checked = with_new_box(tree)
    header = tree / "core/front/first_idea.hpp"
    # With the box in the registry, but off, the baseline executes something.
    leak = "if constexpr (boxes::kBoxCount > static_cast<std::size_t>(boxes::Id::first_idea))"
    text = header.read_text().replace("if constexpr (boxes::on(boxes::Id::first_idea))", leak)
    header.write_text(text)
    row = side_effects(checked, NEW)
    assert row.status == "no" and "other code without the box" in row.evidence


def test_two_places_and_a_foreign_file_are_seen(tree: Path) -> None:
    checked = with_new_box(tree)
    cache = tree / "core/front/cache.cpp"
    cache.write_text(
        cache.read_text() + "\nbool twice() { return value_of(Id::first_idea) != 0; }\n"
    )
    assert len(compliance.decisions(tree, NEW)) == 2
    row = boundary(checked, NEW)
    assert row.status == "no" and "core/front/cache.cpp" in row.evidence


def test_a_comment_is_no_place(tree: Path) -> None:
    with_new_box(tree)
    cache = tree / "core/front/cache.cpp"
    cache.write_text(cache.read_text() + "\n// value_of(Id::first_idea)\n")
    assert len(compliance.decisions(tree, NEW)) == 1


def test_a_box_that_the_library_lacks_is_not_reversible() -> None:
    row = reversible(Checked(ROOT, BUILD, {**KNOWN, NEW.id: NEW}), NEW, short_trials()[:1])
    assert row.status == "no" and "unknown variable" in row.evidence


def test_a_required_box_is_set_too() -> None:
    env = setting(KNOWN["c7_ultra_alloc_depchain_opt"], 1, KNOWN)
    assert env == {"HAKMEM_C7_ULTRA": "1", "HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN_OPT": "1"}


def check(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "boxes/check.py"), "--check", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command() -> None:
    done = check("refill_batch")
    assert done.returncode == 0, done.stderr
    for principle in ("One conversion point", "Clear boundary", "Reversible", "No side effects"):
        assert principle in done.stdout


def test_an_unknown_box() -> None:
    done = check("refil_batch")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "refil_batch" in done.stderr
