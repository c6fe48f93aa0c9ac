"""The stages of `hak test`, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import checks
import suites
from building import BUILDS, CLANG, DEBUG, FAULTS, GCC, HARDENED, Build, compile_all
from running import Outcome

OF_THE_ALLOCATOR = ("core", "boxes")
WITHOUT_BUILD = ("analysis", "ci")


@dataclass(frozen=True)
class Stage:
    name: str
    about: str
    action: Callable[[], Outcome]
    needs: tuple[str, ...] = ()
    """Stages that must have passed before."""
    fast: bool = False
    """Part of `--fast`."""
    only: str = ""
    """Runs only with `--slow` ("slow") or when named ("named")."""


def slow_if(is_slow: bool) -> str:
    """`only` of a stage that may be left out."""
    return "slow" if is_slow else ""


def builds() -> list[Stage]:
    return [
        Stage(
            f"build-{build.name}",
            f"all of {build.folder.name}, with -Werror",
            partial(compile_all, build),
            fast=build is GCC,
            only=slow_if(build is DEBUG),
        )
        for build in (*BUILDS, FAULTS, HARDENED)
    ]


def unit(build: Build) -> Stage:
    name = f"unit-{build.name}"
    action = partial(suites.meson, name, build, (), timeout=1800, required=build is GCC)
    about = f"Meson's tests in {build.folder.name}"
    needs = (f"build-{build.name}",)
    return Stage(name, about, action, needs, fast=build is GCC, only=slow_if(build is DEBUG))


def sanitizer(suite: str) -> Stage:
    action = partial(suites.meson, suite, GCC, (suite,), timeout=1800)
    return Stage(suite, f"Meson's suite {suite}", action, ("build-gcc",))


def pytest(name: str, folder: str) -> Iterator[Stage]:
    """The allocator's tests run on every build (with --slow), those of the tools once."""
    if not suites.has_tests(folder):
        return
    for build in BUILDS if name in OF_THE_ALLOCATOR else (GCC,):
        stage = f"pytest-{name}" + ("" if build is GCC else f"-{build.name}")
        about = folder if build is GCC else f"{folder} on {build.folder.name}"
        needs = () if name in WITHOUT_BUILD else (f"build-{build.name}",)
        action = partial(suites.pytest, stage, folder, build=build)
        yield Stage(stage, about, action, needs, fast=build is GCC, only=slow_if(build is not GCC))


def all_stages() -> list[Stage]:
    return [
        *(Stage(name, about, action) for name, (about, action) in checks.CHECKS.items()),
        *builds(),
        Stage(
            "build-fast",
            "fast, and fast-pgo with its training",
            lambda: suites.launched_build("fast") + suites.launched_build("fast-pgo"),
            ("build-gcc",),
        ),
        *(unit(build) for build in BUILDS),
        *(sanitizer(suite) for suite in suites.SANITIZERS),
        *(stage for item in suites.PYTESTS.items() for stage in pytest(*item)),
        Stage(
            "faults",
            "system calls that fail, one after the other",
            partial(suites.pytest, "faults", "core/tests/test_injected_faults.py", build=FAULTS),
            ("build-faults",),
        ),
        Stage(
            "hardened",
            "misuse, and the kinds, in the hardened build",
            partial(suites.pytest, "hardened", "core/tests/test_hardened.py", build=HARDENED),
            ("build-hardened",),
        ),
        Stage(
            "boxes-page", "docs/boxes.md is current", checks.boxes_page, ("build-gcc",), fast=True
        ),
        Stage("slow", "slow tests", suites.slow_tests, ("build-gcc",), only="slow"),
        Stage("tidy", "clang-tidy", checks.tidy, (f"build-{CLANG.name}",), only="named"),
    ]
