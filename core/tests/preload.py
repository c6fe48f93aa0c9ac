"""Runs programs under a preload of the libraries that the build under test made.

HAK_BUILD names the build folder; the test programs lie in its core/tests/.
"""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HAK_BUILD", ROOT / "build" / "standard")).resolve()
PROGRAMS = BUILD / "core" / "tests"
STANDARD = BUILD / "core" / "libhakmem.so"
LAB = BUILD / "core" / "libhakmem-lab.so"


@dataclass(frozen=True)
class Arm:
    """A library with its boxes set."""

    name: str
    library: Path
    env: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


PLAIN = Arm("standard", STANDARD)
C7_ULTRA = Arm("lab-c7", LAB, {"HAKMEM_C7_ULTRA": "1"})
DEPCHAIN = Arm(
    "lab-depchain",
    LAB,
    {"HAKMEM_C7_ULTRA": "1", "HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN_OPT": "1"},
)
LIBRARIES = (PLAIN, Arm("lab", LAB))
MAIN_ARMS = (*LIBRARIES, DEPCHAIN)
ALL_ARMS = (
    *MAIN_ARMS,
    C7_ULTRA,
    Arm("lab-c7-headers", LAB, {"HAKMEM_C7_ULTRA": "1", "HAKMEM_C7_ULTRA_HEADER_LIGHT": "0"}),
    Arm("batch-1", STANDARD, {"HAKMEM_REFILL_BATCH": "1"}),
    Arm("batch-256", STANDARD, {"HAKMEM_REFILL_BATCH": "256"}),
    Arm("purge-at-once", STANDARD, {"HAKMEM_PURGE_DELAY": "0"}),
    Arm("purge-never", STANDARD, {"HAKMEM_PURGE_DELAY": "-1"}),
)
"""Every library and every variant, and both ends of what the other boxes may be set to."""
ARMS = ALL_ARMS if BUILD.name == "standard" else MAIN_ARMS
"""The standard build tries all of them; the others see what their compiler or option changes."""


def environment(arm: Arm | None, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """A small environment of its own; HAKMEM_STRICT unless the extra variables say otherwise."""
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "HOME": "/"}
    if arm is not None:
        env |= {"LD_PRELOAD": str(arm.library), "HAKMEM_STRICT": "1", **arm.env}
    env |= extra or {}
    return {name: value for name, value in env.items() if value != "-unset-"}


def run(
    arm: Arm | None,
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    address_space: int | None = None,
    timeout: float = 120,
    cwd: Path | None = None,
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """The ended process, with its output as text. `address_space` is an RLIMIT_AS in bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    return subprocess.run(
        [str(word) for word in command],
        env=environment(arm, env),
        capture_output=True,
        text=True,
        errors="replace",
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        timeout=timeout,
        cwd=cwd,
        preexec_fn=limit,
        check=False,
    )


def program(name: str) -> Path:
    path = PROGRAMS / name
    assert path.exists(), f"{path} is not built: ninja -C {BUILD}"
    return path


def passes(
    arm: Arm | None,
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    address_space: int | None = None,
) -> str:
    """Its stdout; fails unless the process ends with 0 and nothing on stderr."""
    done = run(arm, command, env=env, address_space=address_space)
    assert (done.returncode, done.stderr) == (0, ""), f"{command}: {done}"
    return done.stdout
