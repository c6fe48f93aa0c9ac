"""Which functions differ between two builds of libhakmem.so, wherever the linker put them.

`hak promote` asks: a box whose code is only in the lab changes nothing in libhakmem.so.
Usage: changed_code.py OLD NEW: prints the names, one a line.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

from disassembly import HEADING, Instruction, normalised, output_of, parse

OFFSET = re.compile(r"\+0x[0-9a-f]+$")


def functions(library: Path) -> dict[str, list[str]]:
    """Every function as text. Data is named without an offset: a longer string moves all behind it."""
    found: dict[str, list[Instruction]] = {}
    current: list[Instruction] = []
    for line in output_of("objdump", "-d", "--no-show-raw-insn", library).splitlines():
        heading = HEADING.match(line)
        if heading:
            current = found.setdefault(heading.group(2), [])
        elif instruction := parse(line):
            symbol = instruction.symbol
            if instruction.target is None:
                symbol = OFFSET.sub("", symbol)
            current.append(replace(instruction, symbol=symbol))
    return {name: normalised(body) for name, body in found.items()}


def changed(old: Path, new: Path) -> list[str]:
    before, after = functions(old), functions(new)
    return sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )


if __name__ == "__main__":
    for function in changed(Path(sys.argv[1]), Path(sys.argv[2])):
        print(function)
