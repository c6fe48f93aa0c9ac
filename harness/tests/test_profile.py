"""`hak profile`, with a stand-in for perf: what it records, counts and says where perf fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import Hak, Result

FAKE_PERF = """#!/bin/sh
case "$1" in
  --version) echo "perf version 6.1" ;;
  record)
    %(record)s
    while [ "$1" != -- ]; do
      case "$1" in -o) data=$2 ;; -e) event=${FORCED:-$2} ;; esac
      shift
    done
    shift; echo "$event" > "$data"; exec "$@" ;;
  evlist) cat "$3" ;;
  script) %(script)s ;;
esac
"""
NO_CYCLES = """case " $* " in *" cycles "*)
      printf 'Error:\\ncycles is not supported here\\nTry another.\\n' >&2; exit 255 ;; esac"""
FORBIDDEN = 'echo "No permission to record" >&2; exit 255'
SAMPLE = 'printf "hakbench 7/7 cpu-clock:\\n\\t 10 main+0x1 (/x/hakbench)\\n\\n"'


def profile(hak: Hak, *options: object, record: str = NO_CYCLES, script: str = SAMPLE) -> Result:
    """A short profile of random_mixed; `record` and `script` are what perf does first."""
    perf = hak.folder / "perf"
    perf.write_text(FAKE_PERF % {"record": record, "script": script})
    perf.chmod(0o755)
    words = ["profile", "random_mixed", "--param", "ops=2000", "--seconds", 0.05, "--runs", 1]
    return hak(*words, "--results", hak.results, *options, HAK_PERF=str(perf))


def content_of(hak: Hak) -> Any:
    (path,) = hak.results.glob("profile/random_mixed/*/profile.json")
    return json.loads(path.read_text())


def test_cpu_clock_where_there_are_no_cycles(hak: Hak) -> None:
    result = profile(hak, "--keep-raw")
    assert result.code == 0, result.err
    content = content_of(hak)
    assert content["event"] == "cpu-clock" and content["call_graph"] == "dwarf"
    assert "cycles is not supported here" in content["event_reason"]
    (arm,) = content["arms"]
    assert arm["ours"] and arm["recordings"][0]["ops"] >= 2000
    (path,) = hak.results.glob("profile/random_mixed/*/" + arm["recordings"][0]["file"])
    assert "main+0x1" in path.read_text()


def test_cycles_where_the_machine_has_them(hak: Hak) -> None:
    assert profile(hak, record=":").code == 0
    content = content_of(hak)
    assert content["event"] == "cycles" and content["event_reason"] == ""


def test_perf_that_takes_another_event_without_a_word(hak: Hak) -> None:
    assert profile(hak, record="FORCED=cpu-clock").code == 0
    content = content_of(hak)
    assert content["event"] == "cpu-clock"
    assert "perf samples cpu-clock for cycles" in content["event_reason"]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
def test_two_arms_are_counted_exactly(hak: Hak) -> None:
    result = profile(hak, "--arm", "standard", "--against", "lab")
    assert result.code == 0, result.err
    counts = [arm["counts"][0] for arm in content_of(hak)["arms"]]
    assert counts[0]["mallocs"] == counts[1]["mallocs"] >= 1000
    assert counts[0]["per_malloc"] > 5 and counts[0]["per_free"] > 5
    # The lab's fast path is the standard one behind one jump.
    jump = counts[1]["per_malloc"] - counts[0]["per_malloc"]
    assert jump == pytest.approx(1.0, abs=0.05)


def test_no_perf_is_one_line(hak: Hak) -> None:
    result = hak("profile", "random_mixed", HAK_PERF="/nonexistent/perf")
    assert result.code == 3
    assert result.err.count("\n") == 1 and "apt-get install linux-perf" in result.err


def test_forbidden_perf_is_one_line(hak: Hak) -> None:
    result = profile(hak, record=FORBIDDEN)
    assert result.code == 5
    assert result.err.count("\n") == 1 and "No permission to record" in result.err
    assert "perf_event_paranoid" in result.err


def test_a_failing_perf_script_is_one_line(hak: Hak) -> None:
    result = profile(hak, script='echo "damaged" >&2; exit 3')
    assert result.code == 12 and "perf script failed" in result.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("random_mixd",), "random_mixed"),
        (("random_mixed", "--param", "ops"), "NAME=VALUE"),
        (("experiments/quickstart.json", "--arm", "treatmen"), '"treatment"'),
        (("experiments/quickstart.json", "--param", "ops=1"), "an experiment has its own"),
        (("experiments/quickstart.json", "--arm", "baseline", "--against", "baseline"), "another"),
    ],
)
def test_wrong_arguments(hak: Hak, words: tuple[str, ...], says: str) -> None:
    root = Path(hak.env["HAK_ROOT"])
    words = tuple(str(root / w) if w.endswith(".json") else w for w in words)
    result = hak("profile", *words)
    assert result.code == 2 and says in result.err and result.err.count("\n") == 1
