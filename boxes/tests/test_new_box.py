"""hak new box: what it writes builds, is valid and is refused where it has to be."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import new_box
from compiling import HOT, compile_one, variant_flags

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HAK_BUILD", ROOT / "build" / "standard"))
PROGRAM = Path(os.environ.get("HAK_PROGRAM", ROOT / "build/standard/harness/hak"))
NAME = "first_idea"
RUNS = '\n  "runs": 10'
# Whether blocks are void on a busy machine is not the question here.
ANY_LOAD = '\n  "void_limits": {"steal_pct": 100, "foreign_load_pct": 100}'


def new(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "boxes" / "new_box.py", *words, "--root", tree],
        capture_output=True,
        text=True,
        check=False,
    )


def made(tree: Path, kind: str, name: str = NAME) -> None:
    done = new(tree, "box", name, "--kind", kind)
    assert (done.returncode, done.stderr) == (0, ""), done


def compile_in(tree: Path, source: str, flags: Sequence[str] = ("-DHAKMEM_LAB",)) -> Path:
    return compile_one(BUILD, tree, source, flags, tree / "made.o")


@pytest.mark.parametrize("kind", new_box.KINDS)
def test_what_it_writes_compiles(kind: str, tree: Path) -> None:
    made(tree, kind)
    for source in new_box.KINDS[kind].calls:
        flags = (
            variant_flags(NAME, [NAME]) if source == HOT else ["-DHAKMEM_LAB", f"-I{BUILD}/core"]
        )
        compile_in(tree, source, flags)


def code_of(path: Path) -> str:
    return subprocess.run(
        ["objdump", "-dr", "--no-show-raw-insn", "-j.hakmem.hot.baseline", path],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.partition("section")[2]


@pytest.mark.parametrize("kind", new_box.KINDS)
def test_the_baseline_does_not_notice_it(kind: str, tree: Path) -> None:
    baseline = variant_flags("baseline")
    before = code_of(compile_in(tree, HOT, baseline))
    made(tree, kind)
    assert "ret" in before
    assert code_of(compile_in(tree, HOT, baseline)) == before


@pytest.mark.parametrize("kind", ("shape", "boot"))
def test_the_build_makes_a_variant_of_it(kind: str, tree: Path) -> None:
    made(tree, kind)
    listed = subprocess.run(
        [sys.executable, "variants.py", "boxes.def", "combos.def"],
        cwd=tree / "boxes",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"{NAME} {NAME}\n" in listed


@pytest.mark.parametrize("kind", new_box.KINDS)
def test_its_experiment_is_valid(kind: str, tree: Path) -> None:
    """With a box that this program knows in its place."""
    made(tree, kind)
    file = tree / "experiments" / f"{NAME}.json"
    text = file.read_text()
    box = new_box.KINDS[kind]
    assert f'"values": [{box.values[0]}, {box.values[1]}]' in text
    text = text.replace(f"HAKMEM_{NAME.upper()}", "HAKMEM_REFILL_BATCH")
    file.write_text(re.sub(r'"values": \[\d+, \d+\]', '"values": [1, 16]', text))
    env = {**os.environ, "HAK_ROOT": str(ROOT), "HAK_LOCK": str(tree / "lock")}
    command = [str(PROGRAM), "run", str(file), "--results", "/proc/nowhere", "--no-wait"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    # 5: the file is fine and the results folder is not.
    assert done.returncode == 5, done.stderr


@pytest.mark.parametrize("name", (NAME, "x" * new_box.LONGEST_NAME))
@pytest.mark.parametrize("kind", new_box.KINDS)
def test_its_files_are_formatted(kind: str, name: str, tree: Path) -> None:
    made(tree, kind, name)
    (test,) = (tree / "core" / "tests").glob(f"*{name}.py")
    compile(test.read_text(), str(test), "exec")
    if shutil.which("clang-format") is None:
        pytest.skip("clang-format is not installed")
    shutil.copy(ROOT / ".clang-format", tree)
    header = tree / new_box.KINDS[kind].folder / f"{name}.hpp"
    touched = [str(header), *(str(tree / name) for name in new_box.KINDS[kind].calls)]
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *touched], check=False)
    assert done.returncode == 0


def test_two_boxes_stand_beside_each_other(tree: Path) -> None:
    made(tree, "data")
    assert new(tree, "box", "second_idea", "--kind", "slow").returncode == 0
    compile_in(tree, "core/front/cache.cpp")
    text = (tree / "core/front/cache.cpp").read_text()
    assert text.count("_at_refill(wanted, front.box_uses);") == 2


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("refill_batch", "there is a box refill_batch already"),
        ("Upper", "cannot name a box"),
        ("two words", "cannot name a box"),
        ("dash-ed", "cannot name a box"),
        ("_x", "cannot name a box"),
        ("x__y", "cannot name a box"),
        ("9lives", "cannot name a box"),
        ("../x", "cannot name a box"),
        ("", "cannot name a box"),
        ("x" * 31, "cannot name a box"),
        ("namespace", "is a word of C++"),
        ("refill", "is a name of the allocator's"),
        ("strict", "is a name of the allocator's"),
    ],
)
def test_a_name_that_cannot_be(name: str, says: str, tree: Path) -> None:
    registry = tree / "boxes" / "boxes.def"
    before = registry.read_text()
    done = new(tree, "box", name)
    assert done.returncode == 2
    assert done.stderr.startswith("hak: new: ") and done.stderr.count("\n") == 1
    assert says in done.stderr
    assert registry.read_text() == before


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["box"],
        ["bix", NAME],
        ["box", NAME, "--kind", "fast"],
        ["box", NAME, "--hypothesis", "two\nlines"],
        ["box", NAME, "--hypothesis", ""],
    ],
)
def test_wrong_usage(words: list[str], tree: Path) -> None:
    done = new(tree, *words)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("hak: new: ") and done.stderr.count("\n") == 1


def test_a_hypothesis_with_quotes(tree: Path) -> None:
    sentence = (
        'The "fast" path \\ of a block that is long enough for two lines of the registry pays.'
    )
    assert new(tree, "box", NAME, "--hypothesis", sentence).returncode == 0
    compile_in(tree, "core/front/cache.cpp")
    experiment = (tree / "experiments" / f"{NAME}.json").read_text().partition("\n")[2]
    assert json.loads(experiment)["hypothesis"] == sentence


def test_a_file_that_is_there_is_kept(tree: Path) -> None:
    file = tree / "experiments" / f"{NAME}.json"
    file.write_text("mine")
    done = new(tree, "box", NAME)
    assert done.returncode == 2 and "exists already" in done.stderr
    assert file.read_text() == "mine"
    assert NAME not in (tree / "boxes" / "boxes.def").read_text()


@pytest.mark.slow
def test_they_run_at_once(tree: Path) -> None:
    """As a newcomer does it, with a whole build of the copy: one for all kinds."""
    ideas = [f"{kind}_idea" for kind in new_box.KINDS]
    for kind, idea in zip(new_box.KINDS, ideas, strict=True):
        made(tree, kind, idea)
    env = {**os.environ, "HAK_LOCK": str(tree / "lock")}
    for name in ("HAK_ROOT", "HAK_BUILD", "HAK_PROGRAM"):
        env.pop(name, None)
    for idea in ideas:
        experiment = tree / "experiments" / f"{idea}.json"
        text = experiment.read_text()
        assert text.count(RUNS) == 1
        experiment.write_text(text.replace(RUNS, f"{ANY_LOAD},{RUNS}"))
        done = subprocess.run(
            [tree / "hak", "run", f"experiments/{idea}.json", "--quick"],
            cwd=tree,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (report,) = (tree / "results").glob(f"{idea}/*/verdict.json")
        assert json.loads(report.read_text())["decision"] != "INVALID"
