"""Reads machine code with objdump, in a form that does not depend on where the linker put it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t([^\t#]+)")
HEADING = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
TARGET = re.compile(r"\b([0-9a-f]+) <([^>]+)>")
SYMBOL = re.compile(r"# [0-9a-f]+ <([^>]+)>")
RETURNS = ("ret", "retq")


def output_of(*command: str | Path) -> str:
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=True
    ).stdout


@dataclass(frozen=True)
class Instruction:
    address: int
    text: str
    """As objdump prints it, blanks reduced to one."""
    target: int | None
    """Where a direct jump leads."""
    symbol: str
    """The name at the target, or of the data that is addressed; "" where there is none."""

    @property
    def name(self) -> str:
        return self.text.split()[0]

    @property
    def is_conditional(self) -> bool:
        return self.name.startswith("j") and self.name not in ("jmp", "jmpq")


def parse(line: str) -> Instruction | None:
    match = INSTRUCTION.match(line)
    if not match:
        return None
    text = " ".join(match.group(2).split())
    jump = TARGET.search(text) if text.startswith(("j", "call")) else None
    data = SYMBOL.search(line)
    if jump:
        text = text[: jump.start()].strip()
    symbol = jump.group(2) if jump else data.group(1) if data else ""
    target = int(jump.group(1), 16) if jump else None
    return Instruction(int(match.group(1), 16), text, target, symbol)


def function(library: Path, name: str) -> list[Instruction]:
    """The instructions of one function, without the padding behind it."""
    text = output_of("objdump", "-d", "--no-show-raw-insn", f"--disassemble={name}", library)
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if (m := HEADING.match(line)) and m[2] == name]
    assert starts, f"no function {name} in {library}"
    found: list[Instruction] = []
    for line in lines[starts[0] + 1 :]:
        instruction = parse(line)
        if instruction is None:
            break
        found.append(instruction)
    while found and re.match(r"(data16 |cs |nop|xchg %ax,%ax)", found[-1].text):
        found.pop()
    return found


def without_offset(symbol: str) -> str:
    """`malloc_slow+0x10` is kept; the table that `_GLOBAL_OFFSET_TABLE_+0xc8` is in, is not."""
    if symbol.startswith("_GLOBAL_OFFSET_TABLE_"):
        return "GOT"
    return symbol


def normalised(instructions: list[Instruction]) -> list[str]:
    """Jumps within the function as `+instruction number`, calls and data by name."""
    numbers = {instruction.address: i for i, instruction in enumerate(instructions)}
    lines = []
    for instruction in instructions:
        text = re.sub(
            r"-?0x[0-9a-f]+\(%rip\)",
            f"{without_offset(instruction.symbol)}(%rip)",
            instruction.text,
        )
        if instruction.target is not None:
            place = numbers.get(instruction.target)
            text += f" +{place}" if place is not None else f" {instruction.symbol}"
        lines.append(text)
    return lines


def fast_path(instructions: list[Instruction]) -> list[Instruction]:
    """From the entry to the first return, no jump taken."""
    for i, instruction in enumerate(instructions):
        if instruction.name in RETURNS:
            return instructions[: i + 1]
        assert instruction.name not in ("jmp", "jmpq", "call"), f"no return before {instruction}"
    raise AssertionError("the function does not return")
