"""The stages of `hak test`, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import checks
import suites
from building import BUILDS, CLANG, GCC, Build, compile_all
from running import Outcome


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


def builds() -> list[Stage]:
    return [
        Stage(
            f"build-{build.name}",
            f"all of {build.folder.name}, with -Werror",
            partial(compile_all, build),
            fast=build is GCC,
        )
        for build in BUILDS
    ]


def unit(build: Build) -> Stage:
    name = f"unit-{build.name}"
    action = partial(suites.meson, name, build, (), timeout=1800, required=build is GCC)
    about = f"Meson's tests in {build.folder.name}"
    return Stage(name, about, action, (f"build-{build.name}",), fast=build is GCC)


def sanitizer(suite: str) -> Stage:
    action = partial(suites.meson, suite, GCC, (suite,), timeout=1800)
    return Stage(suite, f"Meson's suite {suite}", action, ("build-gcc",))


def pytest(name: str, folder: str) -> Stage:
    action = partial(suites.pytest, name, folder, slow=False, timeout=1800)
    # The analysis and ci/ touch no build.
    needs = () if name in ("analysis", "ci") else ("build-gcc",)
    return Stage(f"pytest-{name}", folder, action, needs, fast=True)


def all_stages() -> list[Stage]:
    return [
        *(Stage(name, about, action) for name, (about, action) in checks.CHECKS.items()),
        *builds(),
        *(unit(build) for build in BUILDS),
        *(sanitizer(suite) for suite in suites.SANITIZERS),
        *(
            pytest(name, folder)
            for name, folder in suites.PYTESTS.items()
            if suites.has_tests(folder)
        ),
        Stage(
            "boxes-page", "docs/boxes.md is current", checks.boxes_page, ("build-gcc",), fast=True
        ),
        Stage("slow", "slow tests", suites.slow_tests, ("build-gcc",), only="slow"),
        Stage("tidy", "clang-tidy", checks.tidy, (f"build-{CLANG.name}",), only="named"),
    ]
