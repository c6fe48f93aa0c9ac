"""A bounded run of the fuzzer from the seeds: the same number of inputs, from the same random seed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from preload import PROGRAMS, run

SEEDS = Path(__file__).parent / "fuzz" / "seeds"
FUZZER = PROGRAMS / "fuzz" / "api_fuzz"
RUNS = 2000

pytestmark = pytest.mark.skipif(not FUZZER.exists(), reason="only clang builds the fuzzer")


@pytest.mark.parametrize(
    "boxes",
    [{}, {"HAKMEM_REFILL_BATCH": "1", "HAKMEM_PURGE_DELAY": "0"}, {"HAKMEM_C7_ULTRA": "1"}],
    ids=str,
)
def test_sequences_of_calls(boxes: dict[str, str], tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    shutil.copytree(SEEDS, corpus)
    options = [f"-runs={RUNS}", "-seed=62", "-max_len=400", "-timeout=60"]
    env = {"HAKMEM_STRICT": "1", "ASAN_OPTIONS": "detect_leaks=0", **boxes}
    done = run(None, [FUZZER, *options, corpus], env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    executed = re.search(r"#(\d+)\s+DONE", done.stderr)
    assert executed and int(executed[1]) >= RUNS, done.stderr[-1000:]
