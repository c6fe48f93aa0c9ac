"""The mechanism of the boxes, seen in the binaries: variants stay apart, and the baseline does not
notice that there are research boxes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from disassembly import output_of
from preload import BUILD, LAB, ROOT

BASELINE = "core/libvariant_baseline.a.p/front_hot.cpp.o"


def variant_objects() -> list[Path]:
    return sorted(BUILD.glob("core/libvariant_*.a.p/front_hot.cpp.o"))


def names_of(objects: list[Path]) -> list[str]:
    return [path.parent.name for path in objects]


def symbols(library: Path) -> dict[str, tuple[int, str]]:
    """Address and type of every symbol."""
    found = {}
    for line in output_of("nm", library).splitlines():
        match = re.match(r"([0-9a-f]+) (\w) (\S+)$", line)
        if match:
            found[match[3]] = (int(match[1], 16), match[2])
    return found


def test_there_are_variants() -> None:
    assert (BUILD / BASELINE) in variant_objects()


@pytest.mark.parametrize("path", variant_objects(), ids=names_of(variant_objects()))
def test_variant_shares_no_weak_symbol(path: Path) -> None:
    """Of a weak function the linker would keep one copy for all variants."""
    lines = output_of("nm", path).splitlines()
    assert lines
    weak = [line for line in lines if re.search(r" [VWvwu] ", line)]
    assert weak == []


def test_hot_sections_start_on_pages_baseline_first() -> None:
    entries = {
        name: address
        for name, (address, _) in symbols(LAB).items()
        if re.match(r"hakmem_\w+_(malloc|free|new)$", name)
    }
    first: dict[str, int] = {}
    for name, address in entries.items():
        variant = name.removeprefix("hakmem_").rpartition("_")[0]
        first[variant] = min(address, first.get(variant, address))
    assert len(first) == len(variant_objects())
    assert min(first, key=first.__getitem__) == "baseline"
    assert {variant: address % 4096 for variant, address in first.items()} == dict.fromkeys(
        first, 0
    )
    offsets = {
        variant: tuple(
            sorted(
                ("malloc", "free", "new"),
                key=lambda name: entries[f"hakmem_{variant}_{name}"],
            )
        )
        for variant in first
    }
    assert len(set(offsets.values())) == 1, "the order of the functions differs"


def relocations(path: Path) -> str:
    return output_of("objdump", "-r", path).replace(str(path), "")


def hot_bytes(path: Path) -> str:
    return output_of("objdump", "-s", "-j", ".hakmem.hot.baseline", path).replace(str(path), "")


@pytest.fixture(scope="module")
def without_research(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second build of the libraries, with the compilers of the first."""
    folder = tmp_path_factory.mktemp("without") / "build"
    options = {"research": "false", "tests": "false", "harness": "false", "profile": profile()}
    command: list[str | Path] = ["meson", "setup", folder, ROOT]
    command += [f"-D{name}={value}" for name, value in options.items()]
    subprocess.run(command, env=compilers(), check=True, capture_output=True)
    targets = ["core/libhakmem.so", "core/libhakmem-lab.so"]
    subprocess.run(["ninja", "-j1", "-C", folder, *targets], check=True, capture_output=True)
    return folder


def introspected(what: str) -> str:
    return output_of("meson", "introspect", f"--{what}", BUILD)


def profile() -> str:
    match = re.search(r'"name": "profile", "value": "(\w+)"', introspected("buildoptions"))
    assert match
    return match[1]


def compilers() -> dict[str, str]:
    comment = output_of("readelf", "-p", ".comment", LAB)
    clang = "clang version" in comment
    paths = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    return {**paths, "CC": "clang", "CXX": "clang++"} if clang else paths


@pytest.mark.xdist_group("without_research")  # one process, or each makes the second build
@pytest.mark.skipif(shutil.which("meson") is None, reason="meson is not installed")
class TestBaselineDoesNotNoticeResearchBoxes:
    def test_same_object(self, without_research: Path) -> None:
        own, other = BUILD / BASELINE, without_research / BASELINE
        assert hot_bytes(own) == hot_bytes(other)
        assert relocations(own).count("R_X86_64") > 0
        code = re.compile(r"RELOCATION RECORDS FOR \[\.hakmem\.hot\.baseline\]:.*?\n\n", re.DOTALL)
        assert code.findall(relocations(own)) == code.findall(relocations(other))

    def test_same_place(self, without_research: Path) -> None:
        other = symbols(without_research / "core" / "libhakmem-lab.so")
        own = symbols(LAB)
        for name in ("malloc", "free", "new"):
            assert own[f"hakmem_baseline_{name}"] == other[f"hakmem_baseline_{name}"]

    def test_without_research_there_is_one_variant(self, without_research: Path) -> None:
        names = symbols(without_research / "core" / "libhakmem-lab.so")
        assert [name for name in names if re.match(r"hakmem_\w+_malloc$", name)] == [
            "hakmem_baseline_malloc"
        ]
