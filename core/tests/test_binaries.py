"""What the libraries export, need and take of static TLS."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from disassembly import output_of
from preload import LAB, LIBRARIES, ROOT, Arm


def listed(lab: bool = False) -> set[str]:
    """The names under `global:` in exports.map; those of the lab library's control calls only where
    `lab` asks for them."""
    text = (ROOT / "core" / "exports.map").read_text(encoding="utf-8")
    match = re.search(r"global:(.*?)local:", text, re.DOTALL)
    assert match
    names = {name.strip() for name in match[1].split(";") if name.strip()}
    return {name for name in names if lab or not name.startswith("hakmem_lab_")}


def dynamic_symbols(library: Path, kind: str) -> set[str]:
    lines = output_of("nm", "-D", f"--{kind}", library).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_exported_is_what_the_list_names(arm: Arm) -> None:
    assert listed() < listed(lab=True)
    assert dynamic_symbols(arm.library, "defined-only") == listed(arm.library == LAB)


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_needs_libc_only(arm: Arm) -> None:
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", arm.library))
    assert set(needed) <= {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_symbols_of_libstdcxx_are_weak(arm: Arm) -> None:
    lines = output_of("nm", "-D", "--undefined-only", arm.library).splitlines()
    runtime = re.compile(r" (\w) (_Z\w+|__cxa_(?!finalize|atexit)\w+|__gxx\w+|_Unwind\w+)")
    kinds = {match[2]: match[1] for line in lines if (match := runtime.search(line))}
    assert {name for name, kind in kinds.items() if kind not in "wv"} == set()


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_static_tls_is_small(arm: Arm) -> None:
    lines = output_of("readelf", "-lW", arm.library).splitlines()
    sizes = [int(line.split()[5], 16) for line in lines if line.split()[:1] == ["TLS"]]
    assert len(sizes) == 1 and 8 <= sizes[0] <= 64


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_no_code_is_writable_and_no_stack_executable(arm: Arm) -> None:
    for line in output_of("readelf", "-lW", arm.library).splitlines():
        assert "RWE" not in line, line
