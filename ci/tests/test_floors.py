"""The rule of the floors holds, and is noticed where it is broken."""

from pathlib import Path

import pytest

from floors import problems
from running import ROOT


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        "core/base/types.hpp": "",
        "core/os/memory.hpp": '#include "base/types.hpp"',
        "core/slab/arena.hpp": '#include "os/memory.hpp"',
        "boxes/boxes.def": "",
        "boxes/registry.hpp": '#include "boxes/boxes.def"',
        "boxes/state.hpp": '#include "boxes/registry.hpp"\n#include "slab/arena.hpp"',
        "core/front/front.hpp": '#include <stddef.h>\n#include "boxes/state.hpp"',
        "core/observe/stats.hpp": '#include "front/front.hpp"',
        "core/api/malloc.cpp": '#include "observe/stats.hpp"\n#include "made.inc"',
        "core/made.inc.in": "",
        "core/tests/arena_test.cpp": '#include "gone/away.hpp"',
    }
    for name, text in files.items():
        put(tmp_path, name, text)
    return tmp_path


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def test_the_repository_keeps_the_rule() -> None:
    assert problems(ROOT) == []


def test_downward_includes_are_fine(tree: Path) -> None:
    assert problems(tree) == []


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("core/base/types.hpp", "os/memory.hpp"),
        ("core/slab/arena.cpp", "boxes/state.hpp"),
        ("boxes/state.cpp", "front/front.hpp"),
        ("core/front/slow.cpp", "observe/stats.hpp"),
        ("core/base/lock.hpp", "boxes/registry.hpp"),
    ],
)
def test_an_upward_include_is_refused(tree: Path, name: str, target: str) -> None:
    put(tree, name, f'// first line\n#  include "{target}"')
    (problem,) = problems(tree)[:1]
    short = name.removeprefix("core/")
    assert problem == f"{short}:2: {short.split('/')[0]}/ includes {target}, which lies above it"


def test_the_registry_may_be_included_below_its_floor(tree: Path) -> None:
    put(tree, "core/os/process.cpp", '#include "boxes/registry.hpp"')
    assert problems(tree) == []


def test_a_circle_within_a_floor_is_refused(tree: Path) -> None:
    put(tree, "core/slab/a.hpp", '#include "b.hpp"')
    put(tree, "core/slab/b.hpp", '#include "slab/a.hpp"')
    assert problems(tree) == [
        "a circle of includes: slab/a.hpp -> slab/b.hpp -> slab/a.hpp",
    ]


def test_a_source_file_is_not_included(tree: Path) -> None:
    put(tree, "core/api/free.cpp", '#include "malloc.cpp"')
    assert problems(tree) == ["api/free.cpp:1: includes a source file, api/malloc.cpp"]


def test_a_file_of_no_floor_is_refused(tree: Path) -> None:
    put(tree, "core/os/memory.cpp", '#include "harness/files.hpp"')
    assert problems(tree) == ["os/memory.cpp:1: harness/files.hpp is no file of a floor"]
