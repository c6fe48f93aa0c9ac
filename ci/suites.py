"""Runs the test suites and counts their cases: those of Meson (gtest and plain) and of pytest."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

from building import GCC, Build
from running import CPUS, LOGS, ROOT, Outcome, check, log_of, run, tail

SANITIZERS = ("asan", "ubsan", "tsan")
APART = (*SANITIZERS, "slow")
"""Meson suites that are stages of their own."""

PYTESTS = {
    "core": "core/tests",
    "boxes": "boxes/tests",
    "harness": "harness/tests",
    "hakbench": "harness/hakbench/tests",
    "analysis": "analysis/tests",
    "ci": "ci/tests",
}
PARALLEL = ("core/tests", "boxes/tests", "analysis/tests")
"""Folders whose tests neither take the machine's lock nor look at its load."""
NO_TESTS_COLLECTED = 5
GOOD_RESULTS = {"OK", "SKIP", "EXPECTEDFAIL"}


def outcome_of(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") == "notrun":
        return "skipped"
    return "passed"


def count(outcomes: Sequence[str], said: str = "") -> Outcome:
    failed = outcomes.count("failed")
    return Outcome(
        outcomes.count("passed"), failed, outcomes.count("skipped"), said if failed else ""
    )


def count_junit(path: Path) -> list[str]:
    return [outcome_of(case) for case in ElementTree.parse(path).getroot().iter("testcase")]


def count_meson(junit: Path, results: Path) -> list[str]:
    """Outcomes of all cases. Meson's JUnit file knows the cases within a gtest program, but not that
    one timed out, and nothing of a program that died before it wrote its own file: the results
    (one JSON object a program) decide where the two differ."""
    cases: dict[str, list[str]] = {}
    programs: dict[str, bool] = {}
    for line in results.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        programs[str(record["name"]).rsplit(" / ", 1)[-1]] = record["result"] in GOOD_RESULTS
    for suite in ElementTree.parse(junit).getroot().iter("testsuite"):
        _, _, rest = suite.get("name", "").partition(".")
        owner = next((name for name in programs if f"{rest}.".startswith(f"{name}.")), None)
        for case in suite.iter("testcase"):
            name = owner if rest and owner is not None else case.get("name", "")
            cases.setdefault(name, []).append(outcome_of(case))
    for name, good in programs.items():
        outcomes = cases.setdefault(name, [])
        if not good and "failed" not in outcomes:
            if len(outcomes) == 1:
                outcomes.clear()
            outcomes.append("failed")
    return [outcome for outcomes in cases.values() for outcome in outcomes]


def meson(
    stage: str, build: Build, suites: Sequence[str], *, timeout: float, required: bool = False
) -> Outcome:
    """The named suites; with none, all but those that are stages of their own."""
    log = log_of(stage)
    chosen = [word for suite in suites for word in ("--suite", suite)]
    left_out = [word for suite in APART for word in ("--no-suite", suite)]
    if "slow" not in suites and suites:
        chosen += ["--no-suite", "slow"]
    base = build.folder / "meson-logs" / stage
    for old in (base.with_suffix(".json"), base.with_suffix(".junit.xml")):
        old.unlink(missing_ok=True)
    # fmt: off
    command: list[str | Path] = [
        "meson", "test", "-C", build.folder, "--logbase", stage, "--print-errorlogs",
        "--num-processes", str(CPUS), "--timeout-multiplier", "2", *(chosen or left_out),
    ]
    # fmt: on
    status = run(command, log, timeout=timeout)
    if not base.with_suffix(".junit.xml").exists():
        if status == 0 and not required:
            return Outcome()
        said = "no tests were found" if status == 0 else tail(log)
        return Outcome(failed=1, said=said)
    outcomes = count_meson(base.with_suffix(".junit.xml"), base.with_suffix(".json"))
    if status != 0 and "failed" not in outcomes:
        outcomes.append("failed")
    return count(outcomes, tail(log, 80))


def launched_build(profile: str) -> Outcome:
    """A build without tests, made by the launcher's script."""
    return check(
        f"build-{profile}",
        ["sh", ROOT / "ci" / "build.sh", "libraries", profile, "gcc"],
        timeout=900,
    )


def python_for_tests() -> str:
    """The launcher's Python, unless only Debian's has pytest."""
    return sys.executable if importlib.util.find_spec("pytest") else "/usr/bin/python3"


def environment(build: Build) -> dict[str, str]:
    """What the pytest files may rely on. `hak` itself is always that of the standard build."""
    paths = [str(ROOT / "analysis"), os.environ.get("PYTHONPATH", "")]
    return {
        "HAK_ROOT": str(ROOT),
        "HAK_BUILD": str(build.folder),
        "HAK_PROGRAM": str(GCC.folder / "harness" / "hak"),
        "HAK_PYTHON": os.environ.get("HAK_PYTHON", sys.executable),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "Agg",
    }


def pytest(
    stage: str, folder: str, *, build: Build = GCC, slow: bool = False, timeout: float = 1800
) -> Outcome:
    """The tests of one folder that are, or are not, marked slow, on one build."""
    log = log_of(stage)
    junit = LOGS / f"{stage}.xml"
    junit.unlink(missing_ok=True)
    # fmt: off
    command: list[str | Path] = [
        python_for_tests(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rfE", "--tb=short",
        "-m", "slow" if slow else "not slow", f"--junitxml={junit}", ROOT / folder,
    ]
    if folder in PARALLEL:
        command += ["-n", str(CPUS), "--dist", "loadgroup"]
    # fmt: on
    status = run(command, log, timeout=timeout, env=environment(build))
    if status == NO_TESTS_COLLECTED:
        return Outcome()
    outcomes = count_junit(junit) if junit.exists() else []
    if status != 0 and "failed" not in outcomes:
        outcomes.append("failed")
    return count(outcomes, tail(log, 80))


def slow_tests() -> Outcome:
    """Meson's suite `slow` and what is marked slow in the pytest folders."""
    total = meson("slow-meson", GCC, ["slow"], timeout=3000)
    for name, folder in PYTESTS.items():
        if has_tests(folder):
            total += pytest(f"slow-pytest-{name}", folder, slow=True, timeout=3000)
    return total


def has_tests(folder: str) -> bool:
    return any((ROOT / folder).glob("test_*.py"))
