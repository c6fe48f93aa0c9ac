"""The model of remote frees and adoption, checked by spin in every interleaving."""

import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).parent / "model" / "remote_free.pml"
SEARCH = ["-search", "-O2", "-DVECTORSZ=4096", "-m200000"]


def errors_of(model: str, folder: Path) -> int:
    """Number of errors that spin's exhaustive search reports."""
    path = folder / "model.pml"
    path.write_text(model, encoding="utf-8")
    run = subprocess.run(
        ["spin", *SEARCH, path.name], cwd=folder, capture_output=True, text=True, check=False
    )
    counts = [line for line in run.stdout.splitlines() if "errors:" in line]
    assert counts, run.stdout + run.stderr
    assert "max search depth too small" not in run.stdout
    return int(counts[0].rsplit("errors:", 1)[1])


def test_the_protocol_holds(tmp_path: Path) -> None:
    assert errors_of(MODEL.read_text(encoding="utf-8"), tmp_path) == 0


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        # release_hold that does not look at the queue again
        (":: !queued[front] -> break", ":: true -> break"),
        # a slab that is not one's own is dropped instead of passed on
        (
            ":: else -> run notify_owner(done); done ? _\n     fi\n  :: else",
            ":: else\n     fi\n  :: else",
        ),
        # the remote list is taken although the slab is on a queue still
        ("queued[front] = false };", "skip };"),
    ],
)
def test_a_broken_protocol_is_noticed(right: str, wrong: str, tmp_path: Path) -> None:
    model = MODEL.read_text(encoding="utf-8")
    assert right in model
    assert errors_of(model.replace(right, wrong, 1), tmp_path) > 0
