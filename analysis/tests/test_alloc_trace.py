"""hak trace: counts and histograms of an allocation trace, and what it says of a bad one."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from hakmem_analysis.alloc_trace import summarize
from hakmem_analysis.cli import main

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "experiments" / "traces"


def number(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def trace(events: int, *numbers: int, version: int = 1) -> bytes:
    payload = b"".join(map(number, numbers))
    head = struct.pack("<8sIIQQQQQQ", b"HAKTRACE", version, 2, events, 9, len(payload), 0, 3, 0)
    return head + payload


# malloc(100), calloc(8); thread 1: free(slot 0), malloc(40) into it, aligned(64, 128), realloc
GOOD = (100 << 3, 8 << 3 | 1, 1 << 3 | 5, 2, 40 << 3, 6 << 3 | 4, 128, 1 << 3 | 3, 1000)


def test_counts_sizes_lifetimes(tmp_path: Path) -> None:
    file = tmp_path / "t"
    file.write_bytes(trace(6, *GOOD))
    summary = summarize(file)
    assert summary.calls == {"malloc": 2, "calloc": 1, "free": 1, "aligned": 1, "realloc": 1}
    assert summary.sizes == {7: 1, 4: 1, 6: 1, 8: 1, 10: 1}
    assert summary.lifetimes == {2: 1}
    assert (summary.peak_bytes, summary.live_at_end, summary.remote_frees) == (1168, 3, 1)


def test_plots_are_written_and_the_same_each_time(tmp_path: Path, capsys) -> None:
    for name in ("a", "b"):
        assert (
            main(["trace", "show", str(TRACES / "sqlite3.trace"), "--out", str(tmp_path / name)])
            == 0
        )
    assert "252,960 events of 1 threads" in capsys.readouterr().out
    for plot in ("sizes.svg", "lifetimes.svg"):
        first = (tmp_path / "a" / plot).read_bytes()
        assert first.startswith(b"<?xml") and first == (tmp_path / "b" / plot).read_bytes()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"something else", "is not a trace"),
        (trace(6, *GOOD, version=2), "version 2"),
        (trace(6, *GOOD)[:-3], "is cut"),
        (trace(5, *GOOD), "6 events instead of 5"),
        (trace(1, 7 << 3 | 2), "frees a block that is not there"),
    ],
)
def test_a_bad_trace_is_one_line(tmp_path: Path, capsys, content: bytes, says: str) -> None:
    file = tmp_path / "t"
    file.write_bytes(content)
    assert main(["trace", "show", str(file)]) == 4
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1
