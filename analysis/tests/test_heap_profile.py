"""`hak heap`: the profile's text is read, added up by call site, and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from hakmem_analysis.cli import main
from hakmem_analysis.errors import DATA_ERROR
from hakmem_analysis.heap_profile import Estimate, call_site, read_profile, table

TEXT = """heap profile: 3: 3145728 [3: 3145728] @ heap_v2/1048576
1: 1048576 [1: 1048576] @ 0x401010 0x402000
1: 1048576 [1: 1048576] @ 0x401010 0x402000
1: 1048576 [1: 1048576] @ 0x7f0000001234

MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 1 /no/such/program
7f0000000000-7f0000002000 r-xp 00000000 08:01 2                  /no/such/libx.so
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "heap.1"
    path.write_text(text, encoding="utf-8")
    return path


def test_sites_are_added_up_and_ranked(tmp_path: Path) -> None:
    head, first, second = table(read_profile(written(tmp_path, TEXT))).splitlines()
    # Each sample of one rate's size stands for 1 / (1 - 1/e) blocks of a MiB.
    assert head.startswith("4.7 +- 1.7 MiB live, estimated from 3 samples, 1048576 bytes")
    assert first.split()[:8] == ["3.2", "+-", "1.4", "MiB", "66.7", "%", "3", "blocks"]
    assert first.endswith("program+0x1010 < program+0x2000")
    assert second.endswith("libx.so+0x1234")


def test_small_blocks_stand_for_many_and_huge_ones_for_themselves() -> None:
    small, huge = Estimate(), Estimate()
    small.add(16, 1 << 20)
    huge.add(1 << 30, 1 << 20)
    assert small.blocks == pytest.approx((1 << 16) + 0.5, rel=1e-6)
    assert small.error == pytest.approx(small.size, rel=1e-4)
    assert (huge.blocks, huge.size, huge.error) == (1, 1 << 30, 0)


def test_frames_of_a_linked_in_allocator_are_left_out() -> None:
    names = {1: "hakmem::malloc_slow(unsigned long)", 2: "calloc", 3: "main", 4: "malloc_pool"}
    assert call_site((1, 2, 3), names) == "main"
    assert call_site((4, 3), names) == "malloc_pool < main"
    assert call_site((1,), names) == "(no stack)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a heap profile"),
        ("hello\n", "not a heap profile"),
        (TEXT.split("\n\n")[0], "cut"),
        (TEXT.replace("heap_v2/1048576", "heap_v2/0"), "not a heap profile"),
        (TEXT.replace("1: 1048576 [", "1: x ["), "not a sample"),
        (TEXT.replace("1: 1048576 [", "0: 1048576 ["), "not a sample"),
    ],
)
def test_damaged_profile_is_one_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["heap", str(written(tmp_path, text))]) == DATA_ERROR
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_command_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["heap", str(written(tmp_path, TEXT)), "--top", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
