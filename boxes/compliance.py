"""Box Theory, checked by the machine: compliance.json of a result, and `hak boxes --check`.

One conversion point, a clear boundary, reversible, no side effects on the baseline. The evidence for
performance is the verdict's, so it is not here.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compiling import HOT, DoesNotCompile, compile_one, variant_flags
from disassembly import Instruction, function, normalised, output_of, parse
from registry import Box, setting
from reversing import Trial, passes
from variants import ENTRY, closure, shape_boxes

LAB = "core/libhakmem-lab.so"
HOT_SECTION = ".hakmem.hot.baseline"
ENTRIES = ("malloc", "free", "new")
OFFSET_OF_VALUES = 72
"""Of Sealed::box_value; core/base/sealed.hpp asserts it."""
SOURCES = (".hpp", ".cpp", ".h")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Row:
    """One principle of one box. `status` is yes, no or "not checked"."""

    principle: str
    status: str
    evidence: str

    def json(self) -> dict[str, Any]:
        return {"principle": self.principle, "status": self.status, "evidence": self.evidence}


@dataclass(frozen=True)
class Checked:
    """What is looked at: the tree, its build, and all boxes by id."""

    root: Path
    build: Path
    boxes: dict[str, Box]
    code: dict[str, Any] = field(default_factory=dict, compare=False)
    """What was read or compiled, and is the same for every box."""

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        if key not in self.code:
            self.code[key] = make()
        return self.code[key]

    @property
    def lab(self) -> Path:
        return self.build / LAB


def code_files(root: Path) -> Iterator[tuple[str, str]]:
    """Name and text, without comments, of what is compiled into the allocator."""
    for folder in ("core", "boxes"):
        for path in sorted((root / folder).rglob("*")):
            inner = path.relative_to(root)
            if path.suffix in SOURCES and "tests" not in inner.parts:
                yield inner.as_posix(), COMMENT.sub("", path.read_text(encoding="utf-8"))


def decisions(root: Path, box: Box) -> list[str]:
    """A `file` each for the places where the source asks for the box's value."""
    asked = re.compile(rf"\b(?:on|value_of|skipped)\(\s*(?:boxes::)?Id::{box.id}\s*\)")
    return [name for name, text in code_files(root) for _ in asked.finditer(text)]


def named_in(root: Path, box: Box) -> list[str]:
    """Files that name the box."""
    named = re.compile(rf'\bId::{box.id}\b|"{box.env}"')
    return [name for name, text in code_files(root) if named.search(text)]


def is_own(name: str, box: Box) -> bool:
    """A file named after the box, or after a family that the box's id begins with."""
    stem = Path(name).stem
    return box.id == stem or box.id.startswith(stem + "_")


def all_code(library: Path) -> list[Instruction]:
    text = output_of("objdump", "-d", "--no-show-raw-insn", library)
    return [found for line in text.splitlines() if (found := parse(line))]


def reads_in_binary(checked: Checked, box: Box) -> int:
    """Instructions that address the box's value in the sealed page."""
    field = OFFSET_OF_VALUES + 8 * box.index
    wanted = f"_ZN6hakmem6sealedE+0x{field:x}"
    code: list[Instruction] = checked.once("all", lambda: all_code(checked.lab))
    return sum(instruction.symbol == wanted for instruction in code)


def changed_entries(checked: Checked, box: Box) -> list[str]:
    """Entries whose code in the box's variant is not the baseline's."""

    def code(variant: str, entry: str) -> list[str]:
        name = f"hakmem_{variant}_{entry}"
        return [line.replace(name, "") for line in normalised(function(checked.lab, name))]

    return [entry for entry in ENTRIES if code(box.id, entry) != code("baseline", entry)]


def conversion_point(checked: Checked, box: Box) -> Row:
    places = decisions(checked.root, box)
    where = ", ".join(f"{name} ({places.count(name)})" for name in dict.fromkeys(places))
    try:
        if box.is_shape:
            entries = changed_entries(checked, box)
            binary = f"binary: {', '.join(entries) or 'no entry'} differ from the baseline's"
        else:
            binary = f"binary: {counted(reads_in_binary(checked, box), 'read')} of its value"
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        binary = f"binary: not looked at ({error})"
    text = f"source: {counted(len(places), 'place')}: {where or 'none'}; {binary}"
    return Row("One conversion point", yes(len(places) == 1), text)


def boundary(checked: Checked, box: Box) -> Row:
    files = named_in(checked.root, box)
    others = [name for name in files if not is_own(name, box)]
    own = [name for name in files if is_own(name, box)]
    text = f"named in boxes/boxes.def and {', '.join(own) or 'no header of its own'}"
    if others:
        text += f"; besides in {', '.join(others)}"
    return Row("Clear boundary", yes(not others and bool(own)), text)


def reversible(checked: Checked, box: Box, trials: Sequence[Trial]) -> Row:
    values = [box.default, *box.others]
    problems = []
    for value in values:
        arm = setting(box, value, checked.boxes)
        problems += [problem for trial in trials if (problem := passes(checked.lab, arm, trial))]
    if problems:
        return Row("Reversible", "no", problems[0])
    shown = ", ".join(str(value) for value in values)
    text = f"{counted(len(trials), 'program')} pass with {shown} in one library, without a rebuild"
    return Row("Reversible", "yes", text)


def without(root: Path, folder: Path, box: Box) -> list[str]:
    """Flags that compile the allocator as if the box, and what requires it, were not there."""
    text = (root / "boxes/boxes.def").read_text(encoding="utf-8")
    shapes = shape_boxes(text)
    gone = {box.id} | {other for other in shapes if box.id in closure(other, shapes)}
    kept = [entry for entry in ENTRY.finditer(text) if entry[1] not in gone]
    (folder / "boxes").mkdir()
    entries = "\n".join(f"HAKMEM_BOX({entry[1]},{entry[2]})" for entry in kept)
    (folder / "boxes" / "boxes.def").write_text(entries + "\n", encoding="utf-8")
    return [f"-I{folder}", f"-DHAKMEM_WITHOUT={','.join(sorted(gone))}", "-w"]


def hot_code(path: Path) -> str:
    """Bytes and relocations of the baseline's hot section."""
    text = output_of("objdump", "-dr", "-j", HOT_SECTION, path)
    return text.partition("Disassembly of section")[2]


def side_effects(checked: Checked, box: Box) -> Row:
    """Compiles the baseline with and without the box, for libhakmem.so and for the lab."""
    name = "No side effects"
    if box.status != "research":
        return Row(name, "yes", "it is part of the baseline")
    libraries = {
        "libhakmem.so": ["-DHAKMEM_VARIANT=baseline"],
        "the lab": variant_flags("baseline"),
    }
    with tempfile.TemporaryDirectory(prefix="hak-without-") as made:
        folder = Path(made)
        try:
            less = without(checked.root, folder, box)
            target = folder / "hot.o"
            for library, flags in libraries.items():

                def compiled(*extra: str, flags: list[str] = flags) -> str:
                    words = ["-g0", *extra, *flags]
                    return hot_code(compile_one(checked.build, checked.root, HOT, words, target))

                whole = checked.once(library, compiled)
                if not whole or whole != compiled(*less):
                    text = f"malloc, free or new of {library} are other code without the box"
                    return Row(name, "no", text)
        except DoesNotCompile as error:
            first = next((line for line in str(error).splitlines() if "error" in line), "?")
            return Row(name, "no", f"the allocator does not compile without it: {first}")
    text = "malloc, free and new of libhakmem.so and of the lab's baseline: same bytes and "
    return Row(name, "yes", text + "relocations with the box compiled out")


def yes(holds: bool) -> str:
    return "yes" if holds else "no"


def counted(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


def check(checked: Checked, box: Box, trials: Sequence[Trial]) -> list[Row]:
    """All principles but performance."""
    return [
        conversion_point(checked, box),
        boundary(checked, box),
        reversible(checked, box, trials),
        side_effects(checked, box),
    ]
