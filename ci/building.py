"""The builds of `hak test`: the same folders as the launcher's, with tests and -Werror."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from running import CPUS, ROOT, Outcome, log_of, run, tail

FLAGS_OF_THE_SHELL = ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS")


@dataclass(frozen=True)
class Build:
    """One build folder. The harness does not depend on the profile: only standard has it."""

    name: str
    profile: str = "standard"
    clang: bool = False

    @property
    def folder(self) -> Path:
        return ROOT / "build" / (self.profile + ("-clang" if self.clang else ""))

    def options(self) -> dict[str, str]:
        return {
            "profile": self.profile,
            "tests": "true",
            "werror": "true",
            "harness": "true" if self.profile == "standard" else "false",
        }

    def environment(self) -> dict[str, str]:
        compilers = {"CC": "clang", "CXX": "clang++"} if self.clang else {}
        return {**dict.fromkeys(FLAGS_OF_THE_SHELL, ""), **compilers}


GCC = Build("gcc")
CLANG = Build("clang", clang=True)
OBSERVE = Build("observe", profile="observe")
DEBUG = Build("debug", profile="debug")
FAULTS = Build("faults", profile="faults")
HARDENED = Build("hardened", profile="hardened")
"""Each for a test file of its own, which the other builds leave out."""
BUILDS = (GCC, CLANG, OBSERVE, DEBUG)


@contextmanager
def build_lock() -> Iterator[None]:
    """The launcher's lock (ci/build.sh): two must not build into one folder at once."""
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def configured_options(folder: Path) -> dict[str, str] | None:
    """Options of a build folder as Meson spells them, None where it is not configured."""
    if not (folder / "build.ninja").exists():
        return None
    shown = subprocess.run(
        ["meson", "introspect", "--buildoptions", str(folder)], capture_output=True, check=False
    )
    if shown.returncode != 0:
        return None
    options: list[dict[str, object]] = json.loads(shown.stdout)
    return {str(option["name"]): str(option["value"]).lower() for option in options}


def of_this_place(folder: Path) -> bool:
    """False for a folder that was copied along with its clone and still names the old place."""
    mark = folder / ".root"
    return not mark.exists() or mark.read_text(encoding="utf-8").rstrip("\n") == str(ROOT)


def configure(build: Build, log: Path) -> bool:
    wanted = build.options()
    settings = [f"-D{name}={value}" for name, value in wanted.items()]
    now = configured_options(build.folder) if of_this_place(build.folder) else None
    if now is None:
        # --wipe wants a configured folder; a fresh one is what is meant in every case.
        run(["rm", "-rf", build.folder], log, timeout=60)
        command: list[str | Path] = ["meson", "setup", build.folder, ROOT, *settings]
        if run(command, log, timeout=300, env=build.environment()) != 0:
            return False
        (build.folder / ".root").write_text(f"{ROOT}\n", encoding="utf-8")
        return True
    if all(now.get(name) == value for name, value in wanted.items()):
        return True
    return run(["meson", "configure", build.folder, *settings], log, timeout=300) == 0


def compile_all(build: Build) -> Outcome:
    """Everything in the folder; one case."""
    log = log_of(f"build-{build.name}")
    with build_lock():
        done = configure(build, log) and (
            run(["ninja", "-C", build.folder, f"-j{CPUS}"], log, timeout=1800) == 0
        )
    return Outcome(passed=1) if done else Outcome(failed=1, said=tail(log))
