"""Links the libraries of a build again, with their functions in another order.

lld shuffles the sections of the slow functions (`--shuffle-sections`, by a seed). The hot sections,
whose place the build's own script fixes, get a script of their own: their order, and the cache line of
its page at which each begins, follow from the seed. Objects are those of the build: no code differs.
"""

from __future__ import annotations

import random
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

LIBRARIES = ("core/libhakmem.so", "core/libhakmem-lab.so")
LINE = 64
LINES_OF_A_PAGE = 64
LONGEST_PAD = 960
LONGEST_NAME = 240
"""Of a folder, below the 255 bytes that file systems take."""


class NoLink(Exception):
    """One line: why it cannot be linked."""


@dataclass(frozen=True)
class Link:
    """Both libraries of one layout. `pad_bytes`: how much longer their path, and with it the
    environment of a process that preloads them, is than the shortest."""

    number: int
    seed: int
    pad_bytes: int
    out: Path
    lab: Path


def link_command(build: Path, library: str) -> list[str]:
    """The command of the build's last step for a library."""
    done = subprocess.run(
        ["ninja", "-t", "commands", library], cwd=build, capture_output=True, text=True, check=False
    )
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        raise NoLink(f"{build} has no rule for {library}; type: ./hak build")
    return shlex.split(lines[-1])


def variants_of(command: list[str]) -> list[str]:
    """Names of the hot sections in a link: the archives of the variants, or the baseline alone."""
    found = [m[1] for word in command if (m := re.search(r"libvariant_(\w+)\.a$", word))]
    return found or ["baseline"]


def hot_script(names: list[str], seed: int) -> str:
    """A linker script that places each hot section at a line of a page of its own."""
    chance = random.Random(seed)
    order = chance.sample(names, len(names))
    lines = ["SECTIONS", "{", "  .hakmem.hot ALIGN(0x1000) :", "  {"]
    for name in order:
        lines.append("    . = ALIGN(0x1000);")
        lines.append(f"    . += {LINE * chance.randrange(LINES_OF_A_PAGE)};")
        lines.append(f"    *(.hakmem.hot.{name})")
    return "\n".join([*lines, "  }", "}", "INSERT BEFORE .text;"]) + "\n"


def pad_path(folder: Path, pad: int) -> Path:
    """A folder below `folder` whose path is `pad` bytes longer than of the shortest."""
    path = folder / "x"
    while pad > 0:
        size = min(pad, LONGEST_NAME) if pad != 1 else 1
        if size == 1:
            path = path.with_name(path.name + "x")
        else:
            path = path / ("p" * (size - 1))
        pad -= size
    return path


def relink(build: Path, library: str, seed: int, target: Path) -> None:
    """Links one library of the build into `target`."""
    command = link_command(build, library)
    script = target.with_suffix(".ld")
    script.write_text(hot_script(variants_of(command), seed), encoding="utf-8")
    words = []
    for i, word in enumerate(command):
        if word.startswith("-Wl,-T,"):
            word = f"-Wl,-T,{script}"
        if i > 0 and command[i - 1] == "-o":
            word = str(target)
        words.append(word)
    words += ["-fuse-ld=lld", f"-Wl,--shuffle-sections=*={seed}"]
    done = subprocess.run(words, cwd=build, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
        raise NoLink(f"lld does not link {library}: {last.strip()[:200]}")


def make_link(build: Path, folder: Path, number: int, seed: int) -> Link:
    """Both libraries with the layout of a seed, below `folder`."""
    if shutil.which("ld.lld") is None:
        raise NoLink("lld is not installed (./hak setup test)")
    pad = random.Random(seed ^ 0x5EED).randrange(LONGEST_PAD)
    place = pad_path(folder / f"{number:02}", pad)
    place.mkdir(parents=True)
    for file in ("build.json",):
        shutil.copy(build / "core" / file, place)
    for library in LIBRARIES:
        relink(build, library, seed, place / Path(library).name)
    out, lab = (place / Path(library).name for library in LIBRARIES)
    return Link(number, seed, pad, out, lab)
