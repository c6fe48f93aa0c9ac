"""Machine paths and over-long files are found; what only looks like them is not."""

from pathlib import Path

import pytest

from tracked_files import LONGEST, problems


def found(folder: Path, name: str, text: str) -> list[str]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return problems(folder, [name])


@pytest.mark.parametrize("place", ["work/main", "root/.cache", "home/ada/hakmem", "root"])
def test_a_machine_path_is_found(tmp_path: Path, place: str) -> None:
    text = f"first\nsee '/{place}' there\n"
    (problem,) = found(tmp_path, "docs/x.md", text)
    assert problem.startswith("docs/x.md:2: a path of one machine: /")


@pytest.mark.parametrize(
    ("before", "place"),
    [
        ("net", "work/x"),
        ("$HAK_ROOT", "root/"),
        ("{base}", "work/x"),
        ("", "rootless"),
        ("", "usr"),
    ],
)
def test_other_paths_are_not(tmp_path: Path, before: str, place: str) -> None:
    assert found(tmp_path, "x.md", f"see {before}/{place}") == []


def test_what_a_run_recorded_stays(tmp_path: Path) -> None:
    text = '{"path": "/' + 'work/main/lib.so"}'
    assert found(tmp_path, "results/62a/20260101-000000/manifest.json", text) == []
    assert found(tmp_path, "results/62a/20260101-000000/report.md", text) != []


def test_an_over_long_file_is_found(tmp_path: Path) -> None:
    assert found(tmp_path, "core/x.cpp", "x\n" * LONGEST) == []
    (problem,) = found(tmp_path, "core/x.cpp", "x\n" * (LONGEST + 1))
    assert problem.startswith(f"core/x.cpp: {LONGEST + 1} lines")
    assert found(tmp_path, "analysis/tests/data/x.json", "x\n" * (LONGEST + 1)) == []


def test_what_is_no_text_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe/" + b"root/x")
    assert problems(tmp_path, ["x.bin"]) == []
