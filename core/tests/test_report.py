"""HAKMEM_REPORT: one valid JSON line a process, with the effective values."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from preload import ARMS, C7_ULTRA, DEPCHAIN, LAB, LIBRARIES, PLAIN, Arm, program, run
from reports import report_of, reports

BOXES = {
    "HAKMEM_REFILL_BATCH",
    "HAKMEM_PURGE_DELAY",
    "HAKMEM_C7_ULTRA",
    "HAKMEM_C7_ULTRA_HEADER_LIGHT",
    "HAKMEM_C7_ULTRA_ALLOC_DEPCHAIN_OPT",
    "HAKMEM_BURN",
}


@pytest.mark.parametrize("arm", ARMS, ids=str)
def test_effective_values_are_reported(arm: Arm, tmp_path: Path) -> None:
    report = report_of(arm, tmp_path)
    assert BOXES <= set(report["boxes"])
    for name, box in report["boxes"].items():
        expected = int(arm.env[name]) if name in arm.env else box["default"]
        assert box["value"] == expected, name
    assert report["library"] == ("lab" if arm.library == LAB else "standard")
    assert report["event"] == "exit"


@pytest.mark.parametrize(
    ("arm", "variant"),
    [
        (PLAIN, "baseline"),
        (LIBRARIES[1], "baseline"),
        (C7_ULTRA, "c7_ultra"),
        (DEPCHAIN, "c7_ultra_alloc_depchain_opt"),
    ],
    ids=str,
)
def test_every_entry_is_served_by_the_variant(arm: Arm, variant: str, tmp_path: Path) -> None:
    report = report_of(arm, tmp_path)
    assert report["variant"] == variant
    assert set(report["entries"].values()) == {variant}
    assert {"malloc", "free"} <= set(report["entries"])


def test_data_boxes_are_used(tmp_path: Path) -> None:
    report = report_of(PLAIN, tmp_path, [program("k25_statistics"), "live_is_live"])
    assert report["boxes"]["HAKMEM_REFILL_BATCH"]["uses"] > 100
    assert report["stats"]["refills"] > 100
    one_by_one = tmp_path / "batch-1"
    one_by_one.mkdir()
    one = report_of(
        Arm("batch-1", PLAIN.library, {"HAKMEM_REFILL_BATCH": "1"}),
        one_by_one,
        [program("k25_statistics"), "live_is_live"],
    )
    assert one["stats"]["refills"] > 2 * report["stats"]["refills"]


@pytest.mark.parametrize("cycles", ["0", "7", "4000"])
def test_burn_counts_credit_expiries_and_changes_nothing(cycles: str, tmp_path: Path) -> None:
    arm = Arm("burn", LAB, {"HAKMEM_BURN": cycles})
    report = report_of(arm, tmp_path, [program("k25_statistics"), "live_is_live"])
    assert report["boxes"]["HAKMEM_BURN"]["uses"] == report["stats"]["trims"] > 0
    assert report["variant"] == "baseline"


def test_purge_decisions_are_counted(tmp_path: Path) -> None:
    report = report_of(PLAIN, tmp_path, [program("k24_given_back")])
    assert report["boxes"]["HAKMEM_PURGE_DELAY"]["uses"] > 0


@pytest.mark.parametrize(("light", "uses"), [("0", True), ("1", True)])
def test_header_light_is_used_by_refills(light: str, uses: bool, tmp_path: Path) -> None:
    arm = Arm("c7", LAB, {**C7_ULTRA.env, "HAKMEM_C7_ULTRA_HEADER_LIGHT": light})
    report = report_of(arm, tmp_path, [program("k25_statistics"), "live_is_live"])
    assert (report["boxes"]["HAKMEM_C7_ULTRA_HEADER_LIGHT"]["uses"] > 0) is uses


def test_shape_boxes_have_no_count_outside_the_observe_build(tmp_path: Path) -> None:
    report = report_of(DEPCHAIN, tmp_path)
    if report["profile"] == "observe":
        pytest.skip("the observe build counts them")
    assert report["boxes"]["HAKMEM_C7_ULTRA"]["uses"] is None


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that never calls malloc."""
    folder = tmp_path_factory.mktemp("silent")
    (folder / "silent.c").write_text("int main(void) { return 7; }\n", encoding="utf-8")
    built = run(None, ["cc", "-o", folder / "silent", folder / "silent.c"])
    assert built.returncode == 0, built
    return folder / "silent"


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_process_without_malloc_reports_too(arm: Arm, silent: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    done = run(arm, [silent], env={"HAKMEM_REPORT": str(path)})
    assert (done.returncode, done.stderr) == (7, "")
    assert [report["event"] for report in reports(path)] == ["exit"]


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_process_without_malloc_is_stopped_too(arm: Arm, silent: Path) -> None:
    done = run(arm, [silent], env={"HAKMEM_NO_SUCH_BOX": "1"})
    assert done.returncode == 78 and "HAKMEM_NO_SUCH_BOX" in done.stderr, done


def test_each_process_appends_a_line(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    script = "/bin/echo; /bin/echo; (exit 3); /bin/echo"
    done = run(PLAIN, ["/bin/sh", "-c", script], env={"HAKMEM_REPORT": str(path)})
    assert done.returncode == 0
    pids = [report["pid"] for report in reports(path)]
    assert len(pids) >= 3 and len(set(pids)) == len(pids)


def test_child_of_fork_reports_itself(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    run(PLAIN, [program("k13_fork"), "5"], env={"HAKMEM_REPORT": str(path)})
    assert len({report["pid"] for report in reports(path)}) == len(reports(path)) >= 6


def test_report_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "no" / "such" / "folder"
    done = run(PLAIN, [program("k12_wrong_size")], env={"HAKMEM_REPORT": str(path)})
    assert done.returncode == 0
    assert done.stderr == f"hakmem: cannot write the report to {path}\n"


def test_report_is_left_whole_in_an_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "report.jsonl"
    path.write_text('{"earlier": 1}\n', encoding="utf-8")
    os.chmod(path, 0o644)
    run(PLAIN, ["/bin/echo"], env={"HAKMEM_REPORT": str(path)})
    assert reports(path)[0] == {"earlier": 1} and len(reports(path)) == 2
