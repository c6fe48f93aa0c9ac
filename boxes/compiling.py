"""Compiles single sources of the allocator as a build does, from any copy of the tree."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

HOT = "core/front/hot.cpp"
OF_A_VARIANT = ("-DHAKMEM_LAB", "-DHAKMEM_VARIANT")


class DoesNotCompile(Exception):
    """With what the compiler said."""


def compiler_of(build: Path) -> list[str]:
    """The compiler with the flags that every source of core/ gets; no include paths, no variant."""
    listed = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    command = next(entry["command"] for entry in listed if entry["file"].endswith(HOT))
    words = shlex.split(command)
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    kept = [
        word
        for word in words[first:]
        if word.startswith(("-std", "-f", "-m", "-O", "-D", "-W", "-g"))
        and not word.startswith(OF_A_VARIANT)
    ]
    return [*words[:first], *kept]


def compile_one(build: Path, tree: Path, source: str, flags: Sequence[str], target: Path) -> Path:
    """The object of `source` in `tree`, beside which nothing is written. DoesNotCompile otherwise."""
    command = [*compiler_of(build), *flags, f"-I{tree / 'core'}", f"-I{tree}", "-fPIC"]
    done = subprocess.run(
        [*command, "-c", str(tree / source), "-o", str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise DoesNotCompile(done.stderr)
    return target


def variant_flags(name: str, flips: Sequence[str] = ()) -> list[str]:
    """What makes hot.cpp the variant of a name; the baseline flips nothing."""
    flags = ["-DHAKMEM_LAB", f"-DHAKMEM_VARIANT={name}"]
    if flips:
        flags.append("-DHAKMEM_VARIANT_FLIPS=" + ",".join(f"Id::{flip}" for flip in flips))
    return flags
