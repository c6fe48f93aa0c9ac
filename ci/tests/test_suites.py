"""Cases are counted as they ended, also where a program left no file of its own."""

import json
from pathlib import Path

import pytest

from suites import count_junit, count_meson

GTEST = """
<testsuite name="hakmem.arena.Arena" tests="3">
  <testcase name="reserves" status="run"/>
  <testcase name="purges" status="run"><failure message="x"/></testcase>
  <testcase name="DISABLED_slow" status="notrun"/>
</testsuite>"""
PLAIN = """
<testsuite name="hakmem" tests="3">
  <testcase name="preload bash"/>
  <testcase name="hangs"/>
  <testcase name="other machine"><skipped/></testcase>
</testsuite>"""


def meson(folder: Path, suites: str, results: dict[str, str]) -> list[str]:
    (folder / "x.xml").write_text(f"<testsuites>{suites}</testsuites>")
    lines = [json.dumps({"name": name, "result": result}) for name, result in results.items()]
    (folder / "x.json").write_text("\n".join(lines) + "\n")
    return sorted(count_meson(folder / "x.xml", folder / "x.json"))


def test_cases_of_gtest_programs_count_one_by_one(tmp_path: Path) -> None:
    outcomes = meson(tmp_path, GTEST, {"hakmem:unit / arena": "FAIL"})
    assert outcomes == ["failed", "passed", "skipped"]


def test_a_timeout_which_junit_does_not_know_is_a_failure(tmp_path: Path) -> None:
    results = {"hakmem:a / preload bash": "OK", "hakmem:a / hangs": "TIMEOUT"}
    outcomes = meson(tmp_path, PLAIN, {**results, "hakmem:a / other machine": "SKIP"})
    assert outcomes == ["failed", "passed", "skipped"]


def test_a_program_that_died_without_a_file_is_a_failure(tmp_path: Path) -> None:
    outcomes = meson(
        tmp_path, GTEST, {"hakmem:unit / arena": "FAIL", "hakmem:unit / slab": "ERROR"}
    )
    assert outcomes == ["failed", "failed", "passed", "skipped"]


def test_a_gtest_program_that_failed_behind_its_last_case(tmp_path: Path) -> None:
    suite = '<testsuite name="hakmem.arena.A"><testcase name="a"/><testcase name="b"/></testsuite>'
    assert meson(tmp_path, suite, {"u / arena": "FAIL"}) == ["failed", "passed", "passed"]


@pytest.mark.parametrize(
    ("inner", "outcome"),
    [("", "passed"), ("<failure/>", "failed"), ("<error/>", "failed"), ("<skipped/>", "skipped")],
)
def test_cases_of_pytest(tmp_path: Path, inner: str, outcome: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(f"<testsuites><testsuite><testcase>{inner}</testcase></testsuite></testsuites>")
    assert count_junit(path) == [outcome]
