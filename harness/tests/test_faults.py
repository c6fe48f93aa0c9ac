"""Programs that crash, hang, leave grandchildren or print rubbish: each run is kept, nothing is
left behind, the other cells go on."""

from __future__ import annotations

import json
import os
from pathlib import Path

from conftest import MISBEHAVE, Hak


def programs(*commands: list[str]) -> list[dict[str, object]]:
    return [{"name": "program", "command": command} for command in commands]


def left_alive(word: str) -> list[str]:
    """Processes whose command line holds `word`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                text = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in text:
                found.append(text.decode(errors="replace"))
    return found


def test_a_crash_is_kept_and_other_cells_go_on(hak: Hak) -> None:
    file = hak.experiment()
    content = json.loads(file.read_text())
    content["workloads"] = programs([str(MISBEHAVE), "crash"], [str(MISBEHAVE), "work", "50"])
    file.write_text(json.dumps(content))
    result = hak.run(file, FAKE_DECISION="INVALID")
    assert result.code == 12
    by_cell: dict[str, set[str]] = {cell["cell"]: set() for cell in result.manifest["cells"]}
    for sample in result.samples:
        by_cell[sample["cell"]].add(sample["status"])
    assert by_cell == {"misbehave": {"crash"}, "misbehave 2": {"ok"}}
    crash = next(s for s in result.samples if s["status"] == "crash")
    assert crash["signal"] == 11 and crash["exit_code"] is None
    assert crash["metrics"]["ops_per_s"] is None
    assert "about to crash" in crash["detail"]
    assert result.folder is not None
    assert any("about to crash" in p.read_text() for p in (result.folder / "output").glob("*.err"))


def test_an_exit_code_is_a_crash_with_the_last_line(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "exit", 9, runs=1))
    assert result.statuses() == {"crash"}
    assert all(s["exit_code"] == 9 and "going with a code" in s["detail"] for s in result.samples)


def test_a_cell_that_always_fails_is_given_up(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "crash", runs=20))
    assert len(result.samples) == 6
    assert any("given up" in notice for notice in result.manifest["notices"])


def test_a_hang_is_killed(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "hang", runs=1, timeout_seconds=0.5)
    result = hak.run(file)
    assert result.statuses() == {"timeout"}
    assert result.folder is not None
    kept = list((result.folder / "output").glob("*.out"))
    assert kept and kept[0].read_text() == "hanging\n"
    assert not left_alive(str(hak.folder))


def test_grandchildren_in_their_own_session_die_too(hak: Hak) -> None:
    mark = str(hak.folder / "mark")
    file = hak.experiment(MISBEHAVE, "hang-with-grandchild", mark, runs=1, timeout_seconds=0.5)
    result = hak.run(file)
    assert result.statuses() == {"timeout"}
    assert not left_alive(mark)


def test_a_pipe_held_open_by_a_grandchild_does_not_hang(hak: Hak) -> None:
    mark = str(hak.folder / "mark")
    result = hak.run(hak.experiment(MISBEHAVE, "leave-grandchild", mark, runs=1))
    assert result.statuses() == {"ok"}
    assert all(s["left_behind"] >= 1 for s in result.samples)
    assert not left_alive(mark)


def test_rubbish_is_bad_output_only_where_a_record_is_due(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "rubbish", runs=1))
    assert result.statuses() == {"ok"}


def test_output_that_differs_is_bad_output(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "random", runs=2))
    statuses = [s["status"] for s in result.samples]
    assert statuses == ["ok", "bad_output", "bad_output", "bad_output"]
    assert "differs from" in result.samples[1]["detail"]


def test_a_flood_of_output_is_hashed_and_bounded(hak: Hak) -> None:
    result = hak.run(hak.experiment(MISBEHAVE, "flood", 40, runs=1))
    assert result.statuses() == {"ok"}
    assert len({s["checksum"] for s in result.samples}) == 1


def test_a_program_that_is_not_there_is_found_before_anything_runs(hak: Hak) -> None:
    result = hak.run(hak.experiment("/no/such/program"))
    assert result.code == 2 and "/no/such/program" in result.err
    assert result.folder is None


def test_a_program_that_cannot_be_executed_is_a_crash(hak: Hak) -> None:
    script = hak.folder / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    result = hak.run(hak.experiment(script, runs=1))
    assert result.statuses() == {"crash"}
    assert all("cannot start" in s["detail"] for s in result.samples)


def test_a_timeout_does_not_count_as_fast(hak: Hak) -> None:
    file = hak.experiment(MISBEHAVE, "hang", runs=1, timeout_seconds=0.3)
    assert all(s["metrics"]["ops_per_s"] is None for s in hak.run(file).samples)


def test_programs_are_found_in_the_fixed_path_only(hak: Hak) -> None:
    own = hak.folder / "bin"
    own.mkdir()
    (own / "only-here").symlink_to(MISBEHAVE)
    file = hak.experiment("only-here", "work", 30)
    result = hak.run(file, PATH=f"{own}:{hak.env['PATH']}")
    assert result.code == 2 and "only-here" in result.err
