"""hak new box NAME: the files of a new research box, which build and run as they stand.

    python3 boxes/new_box.py box NAME [--kind data|slow|shape|boot] [--hypothesis TEXT] [--root DIR]

Writes an entry of boxes.def, a header from templates/, its call in the core (at the comments that
name `hak new box`), an experiment and a test. All of it is checked before anything is written; exit
code 2 and one line on stderr where something is wrong, 5 where the disk refuses.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import NoReturn

from variants import ENTRY

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
LONGEST_NAME = 30
"""So that no line that a template makes gets longer than 100 characters."""

KEYWORDS = frozenset(
    "and asm auto bool break case catch char class compl const continue default delete do double "
    "else enum explicit export extern false final float for friend goto if inline int long mutable "
    "namespace new not operator or override private protected public register return short signed "
    "sizeof static struct switch template this throw true try typedef typename union unsigned using "
    "virtual void volatile while xor".split()
)
LIFE = datetime.timedelta(days=182)
"""A research box is decided or gone by then."""

MARK = "// `hak new box` puts the calls of"
BURST = '{"name": "burst", "params": {"objects": 100000, "size": 32, "idle_ms": 0}}'
MIXED = '{"name": "random_mixed", "params": {"ops": 20000000, "slots": 400}}'


@dataclass(frozen=True)
class Kind:
    """What boxes of a kind begin as."""

    folder: str
    """Where the header goes; the core includes it as `front/…` or `boxes/…`."""
    calls: dict[str, str]
    """A line of code by the file that it goes into."""
    values: tuple[int, int]
    """Baseline, which is the default, and treatment."""
    most: int
    unit: str
    counter: str
    hypothesis: str
    workload: str


AT_REFILL = {"core/front/cache.cpp": "wanted = boxes::${name}_at_refill(wanted, front.box_uses);"}
KINDS = {
    "data": Kind(
        folder="boxes",
        calls=AT_REFILL,
        values=(100, 200),
        most=1000,
        unit="percent",
        counter="refills",
        hypothesis="Refills that take twice as many blocks are fewer, and cost less in all.",
        workload=BURST,
    ),
    "slow": Kind(
        folder="boxes",
        calls=AT_REFILL,
        values=(0, 1),
        most=1,
        unit="",
        counter="refills",
        hypothesis="Refills that take twice as many blocks are fewer, and cost less in all.",
        workload=BURST,
    ),
    "shape": Kind(
        folder="core/front",
        calls={"core/front/hot.cpp": "${name}_at_malloc(*front, head_of(front, code));"},
        values=(0, 1),
        most=1,
        unit="",
        counter="",
        hypothesis="A prefetch of the block that malloc gives next hides the miss of its first touch.",
        workload=MIXED,
    ),
    "boot": Kind(
        folder="core/front",
        calls={
            "core/front/entries.cpp": "size = ${name}_at_start(size);",
            "core/front/hot.cpp": "${name}_at_malloc(*front);",
        },
        values=(0, 1),
        most=1,
        unit="",
        counter="",
        hypothesis="Small blocks of whole cache lines share none, and that pays for the memory.",
        workload=MIXED,
    ),
}


class Refused(Exception):
    """One line for the user."""


def env_of(name: str) -> str:
    return f"HAKMEM_{name.upper()}"


def sources(root: Path) -> Iterator[Path]:
    for folder in ("core", "boxes"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".hpp", ".cpp", ".h") and "tests" not in path.parts:
                yield path


def check_name(name: str, root: Path) -> None:
    """Refused where the name cannot be a box's: it becomes an ENV name, a file and a C++ name."""
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise Refused(
            f"{name!r} cannot name a box: lower-case letters, digits and single '_' between them, "
            f"at most {LONGEST_NAME} characters, a letter first"
        )
    if name in KEYWORDS:
        raise Refused(f"{name!r} is a word of C++; choose another name")
    if name in (box_id for box_id, _ in ENTRY.findall(read(root / "boxes/boxes.def"))):
        raise Refused(f"there is a box {name} already (boxes/boxes.def)")
    for path in sources(root):
        for number, line in enumerate(read(path).splitlines(), 1):
            if f'"{env_of(name)}"' in line or re.search(rf"\b{name}\b", line.split("//")[0]):
                place = f"{path.relative_to(root)}:{number}"
                raise Refused(f"{name!r} is a name of the allocator's ({place}); choose another")


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Refused(f"{path}: cannot be read ({error.strerror}); is this a whole checkout?")


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def field(name: str, value: str) -> str:
    """A member of the entry; a long string goes on in a line below."""
    head = f"           .{name} = "
    if len(head + value) < 100:
        return head + value
    lines = textwrap.wrap(value[1:-1], 70, drop_whitespace=False)
    return head + ("\n" + " " * len(head)).join(f'"{line}"' for line in lines)


def entry_of(name: str, kind_name: str, hypothesis: str, today: datetime.date) -> str:
    kind = KINDS[kind_name]
    members = {
        "env": quoted(env_of(name)),
        "kind": f"Kind::{kind_name}",
        "minimum": str(min(kind.values[0], 1)),
        "maximum": str(kind.most),
        "default_value": str(kind.values[0]),
        "unit": quoted(kind.unit),
        "status": "Status::research",
        "phase": quoted(name),
        "hypothesis": quoted(hypothesis),
        "expiry": quoted((today + LIFE).isoformat()),
    }
    if kind.counter:
        members["counter"] = quoted(kind.counter)
    lines = ",\n".join(field(member, value) for member, value in members.items())
    return f"\nHAKMEM_BOX({name},\n{lines})\n"


def with_include(text: str, header: str) -> str:
    """`header` among the includes in quotes that hold one of the same folder, in order."""
    line = f'#include "{header}"'
    lines = text.splitlines(keepends=True)
    quotes = [i for i, old in enumerate(lines) if old.startswith('#include "')]
    # The file's own header stands apart at the top.
    block = [i for i in quotes if i + 1 in quotes or i - 1 in quotes]
    if not block:
        raise Refused("no block of includes to add to; the core has changed, add the call by hand")
    at = next((i for i in block if lines[i].rstrip() > line), block[-1] + 1)
    return "".join([*lines[:at], line + "\n", *lines[at:]])


def with_call(path: Path, call: str, header: str) -> str:
    text = read(path)
    marks = [line for line in text.splitlines(keepends=True) if line.strip().startswith(MARK)]
    if len(marks) != 1:
        raise Refused(f"{path}: {len(marks)} lines begin with '{MARK}'; add the call by hand")
    indent = marks[0][: len(marks[0]) - len(marks[0].lstrip())]
    return with_include(text.replace(marks[0], marks[0] + f"{indent}{call}\n"), header)


def changes(root: Path, name: str, kind_name: str, hypothesis: str | None) -> dict[Path, str]:
    """All files of the new box with their whole text."""
    check_name(name, root)
    kind = KINDS[kind_name]
    sentence = kind.hypothesis if hypothesis is None else hypothesis
    if not sentence.strip() or not sentence.isprintable():
        raise Refused("--hypothesis takes one line of text")
    words = {
        "name": name,
        "env": env_of(name),
        "baseline": str(kind.values[0]),
        "treatment": str(kind.values[1]),
        "hypothesis": json.dumps(sentence, ensure_ascii=False),
        "workload": kind.workload,
    }

    def filled(template: str) -> str:
        return Template(read(root / "boxes/templates" / template)).substitute(words)

    header = root / kind.folder / f"{name}.hpp"
    made = {
        header: filled(f"{kind_name}.hpp.in"),
        root / "experiments" / f"{name}.json": filled("experiment.json.in"),
        root / "core/tests" / f"test_box_{name}.py": filled("test.py.in"),
    }
    for path in made:
        if path.exists():
            raise Refused(f"{path.relative_to(root)} exists already; choose another name")
    included = header.relative_to(root).as_posix().removeprefix("core/")
    for file, call in kind.calls.items():
        made[root / file] = with_call(root / file, Template(call).substitute(words), included)
    registry = root / "boxes/boxes.def"
    entry = entry_of(name, kind_name, sentence, datetime.date.today())
    made[registry] = read(registry) + entry
    return made


def write(path: Path, text: str) -> None:
    """Beside it, then renamed."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    if path.exists():
        beside.chmod(path.stat().st_mode)
    beside.replace(path)


def told(root: Path, name: str, made: Sequence[Path]) -> str:
    files = "\n".join(f"  {path.relative_to(root)}" for path in made)
    return f"""{env_of(name)} is a box now; written or changed:
{files}
Next: put your idea into the first of them and your forecast into the experiment, then
  ./hak run experiments/{name}.json
To keep it: ./hak boxes --markdown >docs/boxes.md, and ./hak test. docs/guide/first-box.md says more.
"""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"hak: new: {message} (hak new --help shows the usage)", file=sys.stderr)
        sys.exit(2)


def parse(words: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="hak new", description="The files of a new research box.")
    parser.add_argument("what", choices=("box",))
    parser.add_argument("name", help="lower_case; the variable is HAKMEM_ and the name in capitals")
    parser.add_argument(
        "--kind",
        choices=tuple(KINDS),
        default="data",
        help="data: a number (default); slow: a decision on a slow path; shape: code of the fast "
        "path; boot: memory layout",
    )
    parser.add_argument("--hypothesis", help="one sentence: what pays, and why")
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).parent.parent, help="of another checkout"
    )
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    args = parse(words)
    root = args.root.resolve()
    try:
        made = changes(root, args.name, args.kind, args.hypothesis)
        for path, text in made.items():
            write(path, text)
    except Refused as refused:
        print(f"hak: new: {refused}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"hak: new: {error.filename}: {error.strerror}", file=sys.stderr)
        return 5
    sys.stdout.write(told(root, args.name, list(made)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
