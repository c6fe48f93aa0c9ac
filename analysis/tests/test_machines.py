"""Results of unlike machines are not pooled unless a person insists."""

from __future__ import annotations

import pytest
from synthetic import Fake, make_run, manifest_of

from hakmem_analysis import AnalysisError, load_run
from hakmem_analysis.cli import main
from hakmem_analysis.machines import KEYS, require_alike

HERE = {
    "cpu": "Example CPU",
    "cores": 2,
    "kernel": "6.1.0",
    "memory_gib": 24,
    "libc": "glibc 2.36",
    "virtualisation": "kvm",
}


def on(machine: dict, other: dict | None = None) -> Fake:
    """A run that began on one machine and, if given, went on on another."""
    fake = Fake()
    sessions = [*manifest_of(fake)["sessions"]]
    if other is not None:
        sessions.append({"session": 2, "boot_id": "c", "started": "later", "machine": other})
    fake.manifest = {
        "machine": {**machine, "fingerprint": "f", "fingerprint_of": machine},
        "sessions": sessions,
    }
    return fake


@pytest.mark.parametrize("key", KEYS)
def test_each_difference_is_named(tmp_path, key):
    first = load_run(make_run(tmp_path / "a", on(HERE)))
    second = load_run(make_run(tmp_path / "b", on({**HERE, key: 7})))
    with pytest.raises(AnalysisError, match=f"{key}: {HERE[key]} against 7.*--force"):
        require_alike([first, second], False)
    assert key in require_alike([first, second], True)[0]
    assert require_alike([first, load_run(make_run(tmp_path / "c", on(HERE)))], False) == []


def test_an_older_result_is_held_by_what_it_records(tmp_path):
    old = load_run(make_run(tmp_path / "a"))  # no memory in it
    assert require_alike([old, load_run(make_run(tmp_path / "b", on(HERE)))], False) == []
    other = load_run(make_run(tmp_path / "c", on({**HERE, "kernel": "6.2"})))
    with pytest.raises(AnalysisError, match="kernel: 6.1.0 against 6.2"):
        require_alike([old, other], False)


def test_a_report_does_not_pool_sessions_of_two_machines(capsys, tmp_path):
    folder = make_run(tmp_path / "r", on(HERE, {**HERE, "cores": 64}))
    assert main(["report", str(folder)]) == 4
    assert "cores: 2 against 64" in capsys.readouterr().err
    assert not (folder / "verdict.json").exists()
    assert main(["report", str(folder), "--force"]) == 0
    assert "its sessions are of unlike machines" in (folder / "report.md").read_text("utf-8")


def test_a_machine_that_is_no_object_is_no_crash(tmp_path):
    fake = Fake(manifest={"machine": None, "sessions": None})
    assert require_alike([load_run(make_run(tmp_path / "r", fake))], False) == []
