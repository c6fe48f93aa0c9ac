"""USDT probes: the notes that tracers read, and a nop where each of them points to."""

from __future__ import annotations

import json
import re

import pytest

from disassembly import output_of
from preload import LIBRARIES, Arm

PROBES = {"refill", "purge", "adoption"}
NOTE = re.compile(
    r"Provider: (\w+)\s+Name: (\w+)\s+Location: 0x([0-9a-f]+),.*?Arguments: ([^\n]+)", re.DOTALL
)


def notes(arm: Arm) -> list[tuple[str, str, int, str]]:
    """Provider, name, address and arguments of each probe."""
    found = NOTE.findall(output_of("readelf", "-n", arm.library))
    return [(provider, name, int(place, 16), words) for provider, name, place, words in found]


def has_probes(arm: Arm) -> bool:
    facts = json.loads((arm.library.parent / "build.json").read_text(encoding="utf-8"))
    return bool(facts["probes"])


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_each_probe_is_a_nop_with_two_arguments(arm: Arm) -> None:
    found = notes(arm)
    if not has_probes(arm):
        assert found == []
        pytest.skip("built without sys/sdt.h")
    assert {(provider, name) for provider, name, _, _ in found} == {("hakmem", n) for n in PROBES}
    for _, name, place, words in found:
        assert len(words.split()) == 2, (name, words)
        code = output_of(
            "objdump", "-d", f"--start-address={place}", f"--stop-address={place + 1}", arm.library
        )
        assert re.search(rf"{place:x}:\s.*\bnop", code), (name, code)


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_fast_paths_have_none(arm: Arm) -> None:
    """Their section has a name of its own."""
    sections = output_of("readelf", "-SW", arm.library)
    hot = [
        (int(start, 16), int(start, 16) + int(size, 16))
        for start, size in re.findall(
            r"\.hakmem\.hot\S*\s+PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", sections
        )
    ]
    assert hot
    for _, name, place, _ in notes(arm):
        assert not any(start <= place < end for start, end in hot), name
