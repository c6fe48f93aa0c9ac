"""Profiles: from the text of perf to the report, on recordings made up here."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from synthetic import Fake, make_run

from hakmem_analysis.cli import main
from hakmem_analysis.profile.candidates import candidates_of
from hakmem_analysis.profile.kinds import Kind, kind_of, short_name
from hakmem_analysis.profile.samples import UNKNOWN, Frame, Recordings
from hakmem_analysis.profile.shares import Share, amdahl_pct, differences, shares_of

LIB = "/b/libhakmem-lab.so"
BENCH = "/b/hakbench"
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
MAIN = f"main+0x8 ({BENCH})"


def sample(*frames: str, times: int = 1, program: str = "hakbench") -> str:
    """`times` samples in perf's text, the innermost frame first."""
    lines = "".join(f"\t    1f00 {frame}\n" for frame in frames)
    return f"{program}  7/7  cpu-clock: \n{lines}\n" * times


MALLOC = sample(f"hakmem_baseline_malloc+0x4 ({LIB})", MAIN, times=30)
FREE = sample(f"hakmem_baseline_free+0x9 ({LIB})", MAIN, times=20)
REFILL = sample(f"hakmem::refill(hakmem::Front&, unsigned int)+0x2 ({LIB})", MAIN, times=10)
PURGE = sample(
    "clear_page+0x7 ([kernel.kallsyms])",
    f"hakmem::os::purge(void*, unsigned long)+0x9 ({LIB})",
    MAIN,
    times=5,
)
WORK = sample(MAIN, times=35)
ALL = MALLOC + FREE + REFILL + PURGE + WORK


def recordings(*texts: str) -> Recordings:
    found = Recordings()
    for text in texts:
        found.add(text.splitlines(), "samples.txt")
    return found


def shares(*texts: str) -> Any:
    return shares_of(recordings(*texts), "libhakmem-lab.so", "hakbench")


def test_shares_kinds_and_what_the_allocator_owns() -> None:
    found = shares(ALL)
    assert found.owned.total == 100
    counts = {kind: share.count for kind, share in found.by_kind.items()}
    assert counts[Kind.FAST] == 50 and counts[Kind.SLOW] == 10
    assert counts[Kind.KERNEL] == 5 and counts[Kind.WORKLOAD] == 35
    assert found.owned.count == 65 and found.asked.count == 5
    first = found.ranked[0]
    assert first.frame.symbol == "main" and first.whole_share.count == 100
    names = [item.frame.symbol for item in found.ranked[1:3]]
    assert names == ["hakmem_baseline_malloc", "hakmem_baseline_free"]


def test_the_interval_is_the_records() -> None:
    # 2.98 % of 833 samples is 2.0 to 4.4 %.
    low, high = Share(25, 833).ci95_pct
    assert low == pytest.approx(2.04, abs=0.02) and high == pytest.approx(4.39, abs=0.02)


def test_each_recording_has_its_own_share() -> None:
    found = shares(ALL, WORK)
    assert found.owned.total == 135
    malloc = next(r for r in found.ranked if "malloc" in r.frame.symbol)
    assert malloc.runs_pct == (30.0, 0.0)


def test_what_starts_the_program_is_left_out() -> None:
    for starter in ("env", "perf", "perf-exec"):
        text = sample("x+0x1 (/usr/bin/env)", times=50, program=starter)
        assert recordings(text + ALL).total == 100


def test_lost_samples_are_counted() -> None:
    text = "hakbench 7/7 PERF_RECORD_LOST lost 41\n\n" + ALL
    found = recordings(text)
    assert found.lost == [41] and found.total == 100


def test_unknown_names_of_ours_and_of_others() -> None:
    stripped = sample(f"{UNKNOWN} ({LIB})", MAIN, times=3)
    foreign = sample(f"{UNKNOWN} (/opt/libx.so)", MAIN, times=4)
    found = shares(ALL + stripped + foreign)
    assert found.unknown.count == 7 and found.unknown_ours.count == 3


def test_damaged_text_is_an_error_that_names_the_file() -> None:
    with pytest.raises(Exception, match="samples.txt.*no output of perf script"):
        recordings("hakbench 7/7 cpu-clock:\n\tnot a frame\n\n")


@pytest.mark.parametrize(
    ("symbol", "dso", "allocator", "kind"),
    [
        ("malloc", LIBC, "libc.so.6", Kind.FAST),
        ("_int_free", LIBC, "libc.so.6", Kind.SLOW),
        ("memcpy", LIBC, "libc.so.6", Kind.OTHER),
        ("malloc", LIBC, "libhakmem.so", Kind.OTHER),
        ("mi_malloc", "/usr/lib/libmimalloc.so.2.0", "libmimalloc.so.2.0", Kind.FAST),
        ("operator new(unsigned long)", LIB, "libhakmem-lab.so", Kind.FAST),
        (UNKNOWN, "[kernel.kallsyms]", "libhakmem.so", Kind.KERNEL),
    ],
)
def test_kinds(symbol: str, dso: str, allocator: str, kind: Kind) -> None:
    assert kind_of(Frame(symbol, dso), allocator, "hakbench") is kind


def test_a_program_is_all_but_the_c_library() -> None:
    assert kind_of(Frame("f", "/usr/lib/libsqlite3.so.0"), "libhakmem.so", "") is Kind.WORKLOAD
    assert kind_of(Frame("memcpy", LIBC), "libhakmem.so", "") is Kind.OTHER


@pytest.mark.parametrize(
    ("symbol", "short"),
    [
        ("hakmem::refill(hakmem::Front&, unsigned int)", "hakmem::refill"),
        ("hakmem::(anonymous namespace)::put(int)", "hakmem::put"),
        (
            "a::V<b<c>>::run(int)::{lambda(unsigned (*)(int))#1}::operator()(int) const",
            "a::V::run::lambda#1::operator() const",
        ),
        ("[unknown]", "[unknown]"),
    ],
)
def test_short_names(symbol: str, short: str) -> None:
    assert short_name(symbol) == short


def test_amdahl() -> None:
    assert amdahl_pct(50.0) == pytest.approx(100.0)
    assert amdahl_pct(20.0) == pytest.approx(25.0)
    assert amdahl_pct(100.0) == float("inf")


BOXES = [
    {"id": "inline_slots", "env": "HAKMEM_INLINE_SLOTS", "kind": "shape", "counter": ""},
    {"id": "refill_batch", "env": "HAKMEM_REFILL_BATCH", "kind": "data", "counter": "refills"},
]


def test_candidates_are_ranked_with_the_boxes_that_act_on_them() -> None:
    found = candidates_of(shares(ALL), BOXES, [])
    by_name = {c.subject: c for c in found}
    assert [c.subject for c in found][:2] == ["malloc fast path", "free fast path"]
    assert by_name["malloc fast path"].boxes == ("HAKMEM_INLINE_SLOTS",)
    assert by_name["hakmem::refill"].boxes == ("HAKMEM_REFILL_BATCH",)
    assert by_name["malloc fast path"].gain_pct == pytest.approx(100 * 30 / 70)
    assert not by_name["hakmem::refill"].is_cold
    assert by_name["kernel, asked by the allocator"].share.count == 5


def test_a_cold_path_stays_cold() -> None:
    cold = sample(f"hakmem::tick(hakmem::Front&)+0x1 ({LIB})", MAIN, times=2)
    found = candidates_of(shares(ALL * 10 + cold), BOXES, [])
    tick = next(c for c in found if c.subject == "hakmem::tick")
    assert tick.is_cold and "cold paths stay cold" in tick.advice


def test_differences_are_clear_only_where_intervals_do_not_touch() -> None:
    slower = shares(ALL + REFILL * 8)
    found = differences(shares(ALL), slower)
    assert "refill" in found[0].frame.symbol and found[0].is_clear
    assert found[0].change_pp == pytest.approx(100 * 90 / 180 - 10)
    assert not any(item.is_clear for item in differences(shares(ALL), shares(ALL)))


def folder_of(tmp_path: Path, text: str = ALL, against: str | None = None, **arm: Any) -> Path:
    """A profile as the harness leaves it, with an earlier result on a box beside it."""
    folder = tmp_path / "results" / "profile" / "demo" / "20260101-000000"
    (folder / "raw").mkdir(parents=True)
    arms: list[dict[str, Any]] = []
    for name, content in (("treatment", text), ("other", against)):
        if content is None:
            continue
        (folder / "raw" / f"{name}.txt").write_text(content)
        arms.append(
            {
                "name": name,
                "file": "libhakmem-lab.so",
                "sha256": "ab" * 32,
                "ours": True,
                "recordings": [{"file": f"raw/{name}.txt"}],
                "counts": [COUNTS],
                **arm,
            }
        )
    (folder / "code.txt").write_text(
        "0000000000010000 <hakmem_baseline_malloc>:\n"
        "   10000:\tmov    %fs:0x0,%rax\n   10009:\tjmp    10020 <hakmem::refill(int)>\n"
    )
    arms[0]["code"] = "code.txt"
    profile = {
        "format": 1,
        "target": "demo",
        "cell": "random_mixed",
        "program": "hakbench",
        "started": "2026-01-01T00:00:00Z",
        "event": "cpu-clock",
        "event_reason": "none here",
        "frequency": 999,
        "call_graph": "dwarf",
        "perf": "perf version 6.1",
        "arms": arms,
    }
    (folder / "profile.json").write_text(json.dumps(profile))
    card = {
        "format": 1,
        "box": "HAKMEM_REFILL_BATCH",
        "phase": "p",
        "workload": "random_mixed",
        "decision": "NO-GO",
        "delta_pct": -1.25,
        "ci95_pct": [-2.0, -0.5],
        "n": 40,
    }
    cards = tmp_path / "results" / "cards"
    cards.mkdir()
    (cards / "refill_batch.json").write_text(json.dumps(card))
    return folder


COUNTS = {
    "what": "cell",
    "mallocs": 100,
    "frees": 100,
    "per_malloc": 17.25,
    "per_free": 21.0,
    "slow_per_op": 1.5,
    "functions": [
        {
            "name": "hakmem_baseline_malloc",
            "entry": "malloc",
            "instructions": 1625,
            "entries": 100,
            "executions": [[0, 100], [9, 80], [12, 0]],
        },
        {
            "name": "hakmem::refill(hakmem::Front&, unsigned int)",
            "entry": "",
            "instructions": 300,
            "entries": 6,
        },
    ],
}


def fake_boxes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "hak"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(BOXES)}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("HAK_PROGRAM", str(program))


def test_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    fake_boxes(monkeypatch, tmp_path)
    folder = folder_of(tmp_path)
    assert main(["profile-report", str(folder)]) == 0
    assert "the allocator owns 65.00 %" in capsys.readouterr().out
    text = (folder / "report.md").read_text()
    assert "**No cycles: none here.**" in text
    assert "| 2 | `hakmem_baseline_malloc` | 30.00 % (21.9…39.6) |" in text
    assert "| cell | treatment | 17.25 | 21.00 | 1.500 | 100 + 100 |" in text
    assert "| `hakmem::refill` | 6 | 50.0 | 1.5000 |" in text
    assert "| +0x9 | 0.800 | `jmp 10020 <hakmem::refill(int)>` |" in text
    assert "+0xc" not in text  # never executed
    assert "HAKMEM_REFILL_BATCH on random_mixed: NO-GO −1.25 % (−2.00…−0.50)" in text
    assert "Cold paths stay cold" in text
    content = json.loads((folder / "candidates.json").read_text())
    assert content["candidates"][0]["subject"] == "malloc fast path"


def test_the_report_can_be_written_again_without_the_raw_files(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    assert main(["profile-report", str(folder)]) == 0
    first = (folder / "report.md").read_text()
    (folder / "raw" / "treatment.txt").unlink()
    assert main(["profile-report", str(folder)]) == 0
    assert (folder / "report.md").read_text() == first


def test_two_arms_have_a_difference_and_its_graph(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, against=ALL + REFILL * 8)
    assert main(["profile-report", str(folder)]) == 0
    text = (folder / "report.md").read_text()
    assert (
        "| `hakmem::refill` | allocator slow path | 10.00 %" in text and "| +40.00 | yes |" in text
    )
    assert (folder / "flame-difference.svg").exists()
    assert len(json.loads((folder / "speedscope.json").read_text())["profiles"]) == 2


def test_notices_of_a_degraded_profile(tmp_path: Path) -> None:
    bad = "hakbench 7/7 PERF_RECORD_LOST lost 41\n\n" + ALL + sample(f"{UNKNOWN} ({LIB})", times=9)
    folder = folder_of(tmp_path, bad, counts=[], counts_missing="valgrind is not installed")
    assert main(["profile-report", str(folder)]) == 0
    text = (folder / "report.md").read_text()
    assert "perf lost 41 samples (27.3 %)" in text
    assert "was the library stripped?" in text
    assert "no instruction counts: valgrind is not installed" in text
    assert "`libhakmem-lab.so+0x1f00` and around" in text


def test_no_samples_is_one_line(tmp_path: Path, capsys: Any) -> None:
    folder = folder_of(tmp_path, "")
    assert main(["profile-report", str(folder)]) != 0
    error = capsys.readouterr().err
    assert "has no samples" in error and error.count("\n") == 1


def test_the_flame_graph_is_one_file_that_needs_nothing(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    assert main(["profile-report", str(folder)]) == 0
    text = (folder / "flame-treatment.svg").read_text()
    root = ElementTree.fromstring(text)
    for outside in ("href", "src=", "@import", "url("):
        assert outside not in text
    boxes = {
        g.get("data-n"): g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("data-n")
    }
    assert float(boxes["main"].get("data-w", 0)) == pytest.approx(1200.0)
    assert float(boxes["hakmem_baseline_malloc"].get("data-w", 0)) == pytest.approx(360.0)
    assert boxes["hakmem_baseline_malloc"].get("data-d") == "1"


def test_speedscope_weights_are_the_samples(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    assert main(["profile-report", str(folder)]) == 0
    content = json.loads((folder / "speedscope.json").read_text())
    profile, frames = content["profiles"][0], content["shared"]["frames"]
    assert sum(profile["weights"]) == profile["endValue"] == 100
    assert len(profile["samples"]) == len(profile["weights"])
    assert all(frames[stack[0]]["name"] == "main" for stack in profile["samples"])


def test_whats_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    untried = {"id": "slot", "env": "HAKMEM_SLOT", "kind": "slow", "status": "research"}
    monkeypatch.setattr("test_profile.BOXES", [*BOXES, {**untried, "hypothesis": "It helps."}])
    fake_boxes(monkeypatch, tmp_path)
    folder = folder_of(tmp_path)
    assert main(["profile-report", str(folder)]) == 0
    capsys.readouterr()
    results = str(tmp_path / "results")
    assert main(["candidates", results]) == 0
    text = capsys.readouterr().out
    assert text.startswith("1. malloc fast path (allocator fast path): at most +42.9 %")
    assert "30.0 % (21.9…39.6) of the time of demo, treatment" in text
    assert "17.2 instructions a call" in text
    assert "boxes: HAKMEM_REFILL_BATCH; tried 1 time, 1 without a gain" in text
    assert "NO-GO −1.25 % (−2.00…−0.50) HAKMEM_REFILL_BATCH" in text
    assert "HAKMEM_SLOT: It helps." in text
    assert "not measured yet" in text
    assert main(["candidates", results, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    subjects = [c["subject"] for c in content["candidates"]]
    assert subjects[:2] == ["malloc fast path", "free fast path"]
    assert content["candidates"][0]["earlier"] == []


def test_whats_next_takes_the_newest_profile_and_the_greatest_gain(
    tmp_path: Path, capsys: Any
) -> None:
    folder = folder_of(tmp_path)
    assert main(["profile-report", str(folder)]) == 0
    content = json.loads((folder / "candidates.json").read_text())

    def add(target: str, run: str, share: float) -> None:
        entry = {**content["candidates"][0], "gain_pct": share, "share_pct": share}
        other = tmp_path / "results" / "profile" / target / run
        other.mkdir(parents=True)
        text = json.dumps({**content, "target": target, "candidates": [entry]})
        (other / "candidates.json").write_text(text)

    add("demo", "20260102-000000", 5.0)
    add("larson", "20260101-000000", 60.0)
    capsys.readouterr()
    assert main(["candidates", str(tmp_path / "results"), "--json"]) == 0
    (first,) = json.loads(capsys.readouterr().out)["candidates"]
    assert first["gain_pct"] == 60.0 and first["target"] == "larson, treatment"
    assert len(first["evidence"]) == 2


def ceiling_folder(folder: Path) -> Path:
    arms = [
        {"name": name, "role": role, "library": name, "env": {}, "sha256": f"{name}-sha"}
        for name, role in (
            ("standard", "baseline"),
            ("fast-pgo", "treatment"),
            ("fast", "treatment"),
        )
    ]
    fake = Fake(
        cells=("random_mixed", "larson"),
        effects={"fast-pgo": 5.0, "fast": 1.0},
        values={"baseline": "16", "fast-pgo": "16", "fast": "16"},
        references={},
        manifest={"arms": arms, "phase": "ceiling"},
        experiment={"phase": "ceiling", "title": "builds", "box": None},
    )
    return make_run(folder, fake)


def test_whats_next_shows_every_comparison_of_a_ceiling(tmp_path: Path, capsys: Any) -> None:
    results = tmp_path / "results"
    folder = ceiling_folder(results / "ceiling" / "20260101-000000")
    assert main(["report", str(folder)]) in (0, 12)
    capsys.readouterr()
    assert main(["candidates", str(results)]) == 0
    text = capsys.readouterr().out
    assert "  builds, results/ceiling/20260101-000000:\n" in text
    number = r"[+−]\d+\.\d\d"
    for build in ("fast-pgo", "fast"):
        for cell in ("random_mixed", "larson"):
            line = rf"    {build} against standard on {cell}: {number} % \({number}…{number}\), 10 blocks, "
            assert re.search(line, text), (build, cell, text)
    assert main(["candidates", str(results), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["ceilings"]
    verdict = json.loads((folder / "verdict.json").read_text())
    assert [one["ci95_pct"] for one in found["comparisons"]] == [
        cell["evidence"]["ci95_pct"] for cell in verdict["cells"]
    ]
    assert len(found["comparisons"]) == 4


def test_a_ceiling_without_a_verdict_is_named(tmp_path: Path, capsys: Any) -> None:
    ceiling_folder(tmp_path / "results" / "ceiling" / "20260101-000000")
    assert main(["candidates", str(tmp_path / "results")]) == 0
    text = capsys.readouterr().out
    assert "  not analysed (complete) builds, results/ceiling/20260101-000000\n" in text


def test_whats_next_without_profiles_says_what_to_type(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "results").mkdir()
    assert main(["candidates", str(tmp_path / "results")]) == 0
    assert "./hak profile" in capsys.readouterr().out
