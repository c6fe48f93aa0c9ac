"""The command line, and the smaller commands: raw data, watch, history, calibration, export."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from synthetic import BOX, Fake, make_run, records_of

from hakmem_analysis import load_run
from hakmem_analysis.calibrate import calibrate, check_uniform, group_p_values, group_size
from hakmem_analysis.cli import main
from hakmem_analysis.slices_power import Outcome
from hakmem_analysis.watch import answer, serve

DATA = Path(__file__).parent / "data" / "phase62a.json"
AA = {"baseline": "16", "treatment": "16"}


def test_raw_data_on_stdout(capsys, tmp_path):
    assert main(["report", "--data", str(DATA)]) == 0
    text = capsys.readouterr().out
    for line in (
        "| Mean (M ops/s) | 59.300 | 58.879 | −0.71 % |",
        "| Median (M ops/s) | 59.561 | 58.935 | −1.05 % |",
        "| StdDev (M ops/s) | 1.173 | 1.079 | −8.0 % |",
        "| CV | 1.98 % | 1.83 % | −0.15 pp |",
        "±1 % rule: **NEUTRAL** · evidence: **UNDECIDED**",
        "| 95 % interval | −2.50…+1.12 % |",
    ):
        assert line in text
    assert text.startswith("# Phase 62A\n") and "unpaired" in text and "plots/" not in text
    assert main(["report", "--data", str(DATA), "--out", str(tmp_path)]) == 0
    assert "![Runs in order](plots/runs.svg)" in (tmp_path / "report.md").read_text("utf-8")
    content = json.loads((tmp_path / "verdict.json").read_text("utf-8"))
    assert content["evidence"]["pairing"] == "unpaired" and content["decision"] == "UNDECIDED"


def test_gate_turns_words_into_exit_codes(tmp_path):
    assert main(["report", "--data", str(DATA), "--gate", "undecided"]) == 11
    make_run(tmp_path / "a", Fake(effects={"treatment": -4.0}))
    assert main(["report", str(tmp_path / "a"), "--gate", "undecided"]) == 10
    make_run(tmp_path / "b")
    assert main(["report", str(tmp_path / "b"), "--gate", "undecided"]) == 0
    assert main(["report", "--data", str(DATA), "--gate", "no-go"]) == 0


def gbench(path: Path, names: tuple[str, ...], count: int = 8) -> Path:
    generator = np.random.default_rng(3)
    entries = []
    for position, name in enumerate(names):
        for index in range(count):
            time = 100.0 * (1.0 - 0.05 * position) * np.exp(generator.normal(0, 0.01))
            entry = {"name": name, "run_name": name, "run_type": "iteration", "real_time": time}
            entries.append({**entry, "time_unit": "ns", "items_per_second": 1e9 / time})
        entries.append({"name": name + "_mean", "run_type": "aggregate", "real_time": 1.0})
    path.write_text(json.dumps({"context": {}, "benchmarks": entries}))
    return path


def test_google_benchmark_json_is_unpaired(capsys, tmp_path):
    path = gbench(tmp_path / "g.json", ("BM_old", "BM_new"))
    assert main(["report", str(path)]) == 0  # a file needs no --data
    text = capsys.readouterr().out
    assert "STRONG GO" in text and "8 runs per arm, unpaired" in text
    arguments = ["--arms", "BM_new", "BM_old", "--metric", "items_per_second"]
    assert main(["report", "--data", str(path), *arguments, "--gate", "undecided"]) == 10
    three = gbench(tmp_path / "h.json", ("a", "b", "c"))
    assert main(["report", "--data", str(three)]) == 4
    assert "it holds 3 benchmarks; name two with --arms" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content, message",
    [
        ("{", "not JSON"),
        ("[]", "no JSON object"),
        ('{"baseline": [1]}', "no list of runs 'treatment'"),
        ('{"baseline": [1, 0], "treatment": [1]}', "baseline[1] is not a number above 0"),
        ('{"baseline": [1, "x"], "treatment": [1]}', "baseline[1] is not a number"),
        ('{"baseline": [1], "treatment": [1], "direction": "up"}', "direction 'up' is unknown"),
    ],
)
def test_bad_raw_data_is_one_line(capsys, tmp_path, content, message):
    path = tmp_path / "raw.json"
    path.write_text(content)
    assert main(["report", "--data", str(path)]) == 4
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and error.startswith("hak: ")


def test_single_raw_run(capsys, tmp_path):
    path = tmp_path / "raw.json"
    path.write_text('{"baseline": [10.0], "treatment": [11.0], "unit": "s"}')
    assert main(["report", "--data", str(path)]) == 0
    assert "not enough runs" in capsys.readouterr().out


def test_usage_errors_exit_2(capsys, tmp_path):
    for arguments in ([], ["report"], ["report", "x", "--data", "y"], ["export", "x"], ["dance"]):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 2
    with pytest.raises(SystemExit):
        main(["selftest", "--reps", "3"])


def test_a_folder_that_cannot_be_written_keeps_the_old_report(capsys, tmp_path):
    folder = make_run(tmp_path / "r")
    main(["report", str(folder)])
    before = (folder / "report.md").read_bytes()
    shutil.rmtree(folder / "plots")
    (folder / "plots").write_text("in the way")
    assert main(["report", str(folder)]) == 5
    assert "cannot be written" in capsys.readouterr().err
    assert (folder / "report.md").read_bytes() == before
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]


def ask(lines: str) -> list[dict]:
    sink = io.StringIO()
    serve(io.StringIO(lines), sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_watch_answers_each_line(tmp_path):
    folder = make_run(tmp_path / "with blank", Fake(cells=("a", "b")))
    found = ask(f"estimate {folder}\n\nestimate /none\ndance\nestimate {folder}\n")
    assert len(found) == 4 and found[0] == found[3]
    cell = found[0]["cells"]["a"]
    assert cell["n"] == 10 and cell["ci95_pct"][0] < cell["delta_pct"] < cell["ci95_pct"][1]
    assert "no such file" in found[1]["error"] and "unknown command" in found[2]["error"]


def test_watch_follows_a_growing_file(tmp_path):
    folder = make_run(tmp_path / "r")
    content = (folder / "samples.jsonl").read_bytes()
    known: dict = {}
    counts = []
    for cut in (0, 10, len(content) // 2, len(content) - 5, len(content)):
        (folder / "samples.jsonl").write_bytes(content[:cut])
        counts.append(answer(known, f"estimate {folder}\n")["cells"]["random_mixed"]["n"])
    assert counts[0] == counts[1] == 0 and 3 <= counts[2] <= 5 and counts[4] == 10
    (folder / "samples.jsonl").write_bytes(content[: len(content) // 2])
    assert answer(known, f"estimate {folder}")["cells"]["random_mixed"]["n"] == counts[2]
    (folder / "samples.jsonl").write_bytes(content[: len(content) // 2] + b"rubbish\n")
    assert "is damaged" in answer(known, f"estimate {folder}")["error"]


def test_watch_notices_a_rewritten_file(tmp_path):
    folder = make_run(tmp_path / "r")
    known: dict = {}
    assert answer(known, f"estimate {folder}")["cells"]["random_mixed"]["n"] == 10
    lines = (folder / "samples.jsonl").read_text().splitlines()
    voided = [{**json.loads(x), "void": "steal"} for x in lines if json.loads(x)["block"] == 1]
    kept = [json.loads(x) for x in lines if json.loads(x)["block"] != 1]
    text = "".join(json.dumps(r) + "\n" for r in [*voided, *kept])
    (folder / "samples.jsonl").write_text(text)
    assert answer(known, f"estimate {folder}")["cells"]["random_mixed"]["n"] == 9


def test_watch_agrees_with_the_report(tmp_path):
    def void(record):
        if record["block"] == 2:
            record["void"] = "steal"
        return record

    folder = make_run(tmp_path / "r", Fake(change=void))
    main(["report", str(folder)])
    content = json.loads((folder / "verdict.json").read_text("utf-8"))
    cell = ask(f"estimate {folder}\n")[0]["cells"]["random_mixed"]
    assert cell["n"] == content["evidence"]["n"] == 9
    assert cell["delta_pct"] == pytest.approx(content["evidence"]["delta_pct"])
    assert cell["ci95_pct"] == pytest.approx(content["evidence"]["ci95_pct"])


def test_watch_tells_a_sequential_run_when_to_stop(tmp_path):
    plan = {"until_decided": True, "looks": [10, 20], "runs": 20}
    folder = make_run(tmp_path / "a", Fake(blocks=7, experiment=plan))
    assert ask(f"look {folder}\n")[0]["next_look"] == 10
    folder = make_run(tmp_path / "b", Fake(blocks=10, experiment=plan))
    assert ask(f"look {folder}\n")[0] == {
        "stop": True,
        "decision": "STRONG GO",
        "n": 10,
        "next_look": None,
    }
    noisy = {"effects": {"treatment": 0.0}, "sd_pct": 9.0, "experiment": plan}
    folder = make_run(tmp_path / "c", Fake(blocks=10, **noisy))
    assert ask(f"look {folder}\n")[0]["next_look"] == 20
    folder = make_run(tmp_path / "d", Fake(blocks=20, **noisy))
    assert ask(f"look {folder}\n")[0]["stop"] is True
    fixed = make_run(tmp_path / "e")
    assert "no sequential run" in ask(f"look {fixed}\n")[0]["error"]
    assert "no sequential run" in ask(f"levels {fixed}\n")[0]["error"]
    levels = ask(f"levels {folder}\n")[0]
    assert levels["looks"] == [10, 20]
    assert 0.025 < levels["level_two_sided"] < 0.03


def test_a_sequential_report_says_at_which_look_it_stopped(tmp_path):
    plan = {"until_decided": True, "looks": [10, 20, 40], "runs": 40}
    folder = make_run(tmp_path / "a", Fake(blocks=10, experiment=plan))
    assert main(["report", str(folder)]) == 0
    content = json.loads((folder / "verdict.json").read_text("utf-8"))
    found = content["sequential"]
    assert (found["looks"], found["look"], found["number"]) == ([10, 20, 40], 10, 1)
    assert found["ended"] == "decided" and "look 1 of 3 (10 blocks), decided" in content["headline"]
    text = (folder / "report.md").read_text("utf-8")
    assert "looks declared at 10/20/40 blocks" in text and "look 1 of 3" in text
    noisy = Fake(blocks=15, sd_pct=9.0, effects={"treatment": 0.0}, experiment=plan)
    folder = make_run(tmp_path / "b", noisy)
    main(["report", str(folder)])
    found = json.loads((folder / "verdict.json").read_text("utf-8"))["sequential"]
    assert found["look"] == 10 and found["ended"] == "stopped before a decision"
    make_run(tmp_path / "c")
    main(["report", str(tmp_path / "c")])
    assert json.loads((tmp_path / "c" / "verdict.json").read_text("utf-8"))["sequential"] is None


def test_history_lists_and_scores(capsys, tmp_path):
    results = tmp_path / "results"
    for name, effect in (("a", 4.0), ("b", 0.0)):
        folder = make_run(results / "quickstart" / name, Fake(effects={"treatment": effect}))
        main(["report", str(folder)])
    make_run(results / "later" / "c")
    (results / "broken" / "d").mkdir(parents=True)
    (results / "broken" / "d" / "manifest.json").write_text("{")
    (results / "cards").mkdir()
    card = {"format": 1, "box": "HAKMEM_OLD", "phase": "3", "decision": "NO-GO", "reason": "slower"}
    (results / "cards" / "old.json").write_text(json.dumps(card))
    capsys.readouterr()
    assert main(["history", str(results)]) == 0
    shown = capsys.readouterr()
    assert "4 results. Forecasts: 1 met, 0 possible, 1 missed of 2" in shown.out
    assert "not analysed (complete)" in shown.out and "HAKMEM_OLD" in shown.out
    assert "broken" in shown.err
    assert (
        main(["history", str(results), "--box", "refill_batch", "--verdict", "NEUTRAL", "--json"])
        == 0
    )
    content = json.loads(capsys.readouterr().out)
    assert [(e["path"], e["box"]) for e in content["entries"]] == [("quickstart/b", BOX)]
    assert main(["history", str(results), "--workload", "larson"]) == 0
    assert capsys.readouterr().out == "No results.\n"
    assert main(["history", str(tmp_path / "none")]) == 4


def test_calibration_of_an_honest_machine(tmp_path):
    fake = Fake(blocks=100, effects={"treatment": 0.0}, values=AA, references={})
    folder = make_run(tmp_path / "r", fake)
    assert main(["calibrate-report", str(folder), "--out", str(tmp_path / "c.json")]) == 0
    content = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert content["verdict"] == "PASS" and content["blocks"] == 100
    assert content["sd_pct"] == pytest.approx(0.85, abs=0.2)
    needed = content["needed_blocks"]
    assert needed["0.5"] > needed["1"] > needed["2"] >= needed["5"] and needed["neutral"] > 5
    assert len(content["cells"][0]["p_values"]) == 10


def test_calibration_finds_a_slot_effect_and_a_biased_arm(tmp_path):
    def later_is_slower(record):
        record["metrics"]["ops_per_s"] *= 0.99 if record["slot"] else 1.0
        return record

    fake = Fake(
        blocks=60, effects={"treatment": 0.0}, values=AA, references={}, change=later_is_slower
    )
    content = calibrate(load_run(make_run(tmp_path / "a", fake)))
    assert content["verdict"] == "FAIL"
    assert [c["state"] for c in content["checks"]] == ["PASS", "PASS", "FAIL"]
    biased = Fake(blocks=60, effects={"treatment": 1.0}, values=AA, references={})
    folder = make_run(tmp_path / "b", biased)
    assert main(["calibrate-report", str(folder)]) == 12


def test_calibration_refuses_an_ab_run(capsys, tmp_path):
    folder = make_run(tmp_path / "r")
    assert main(["calibrate-report", str(folder)]) == 4
    assert "it is no A/A run" in capsys.readouterr().err


def test_p_values_of_groups_are_uniform():
    data = np.random.default_rng(8).normal(0, 0.01, 2000)
    p_values = group_p_values(data, 10)
    assert len(p_values) == 200 and check_uniform(p_values).state == "PASS"
    assert check_uniform(group_p_values(data + 0.01, 10)).state == "FAIL"
    assert check_uniform(p_values[:3]).state == "OPEN"
    assert group_size(50) == 10 and group_size(49) == 5
    assert len(group_p_values(data[:3], 5)) == 0


def test_export_csv(capsys, tmp_path):
    fake = Fake(change=lambda r: {**r, "void": "steal"} if r["block"] == 1 else r)
    folder = make_run(tmp_path / "r", fake)
    assert main(["export", str(folder), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    records = records_of(fake)
    assert len(rows) == len(records) == 30
    assert [float(r["ops_per_s"]) for r in rows] == [r["metrics"]["ops_per_s"] for r in records]
    assert sum(int(r["counts"]) for r in rows) == 27
    assert {r["instructions"] for r in rows} == {""}
    assert json.loads(rows[0]["proof"])["ok"] is True


def power_of(monkeypatch, tmp_path, upper_ends, code=0):
    """slices-power with a stand-in for hak, whose results have these upper ends."""
    ends = ",".join(str(end) for end in upper_ends)
    program = tmp_path / "hak"
    program.write_text(
        f"""#!/usr/bin/env python3
import json, pathlib, sys
if {code}:
    print("no lab library", file=sys.stderr)
    sys.exit({code})
options = sys.argv
if options[1] == "burn":
    out = pathlib.Path(options[options.index("--out") + 1])
    (out / "burn_0_5.json").write_text("// made\\n" + json.dumps({{"phase": "burn_0_5"}}))
    print("0.5 %: HAKMEM_BURN=20")
else:
    body = pathlib.Path(options[2]).read_text().split("\\n", 1)[1]
    plan = json.loads(body)
    assert plan["mode"] == "slices" and plan["slices"]["processes"] == 6
    results = pathlib.Path(options[options.index("--results") + 1])
    number = int(results.name.rsplit("-", 1)[1])
    folder = results / "burn_0_5" / "run"
    folder.mkdir(parents=True)
    evidence = {{"delta_pct": -0.5, "ci95_pct": [-0.9, [{ends}][number]]}}
    (folder / "verdict.json").write_text(json.dumps({{"decision": "NO-GO", "evidence": evidence}}))
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("HAK_PROGRAM", str(program))


def test_slices_power_counts_what_was_found(capsys, tmp_path, monkeypatch):
    power_of(monkeypatch, tmp_path, [-0.1, 0.1, -0.2])
    out = tmp_path / "power.md"
    assert main(["slices-power", "--times", "3", "--out", str(out)]) == 0
    text = out.read_text("utf-8")
    assert "Found in 2 of 3 repetitions (9…99 %, 95 % interval)" in text
    assert text.count("| yes |") == 2 and text.count("| no |") == 1
    said = capsys.readouterr().out
    assert "0.5 %: HAKMEM_BURN=20" in said and "3/3:" in said and text in said


def test_slices_power_believes_no_invalid_result():
    assert Outcome(-0.5, (-0.9, -0.1), "NO-GO").found
    assert not Outcome(-0.5, (-0.9, -0.1), "INVALID").found


def test_slices_power_says_why_hak_failed(capsys, tmp_path, monkeypatch):
    power_of(monkeypatch, tmp_path, [0], code=3)
    assert main(["slices-power"]) == 4
    assert "hak burn: no lab library" in capsys.readouterr().err


def test_export_gbench_reads_back(capsys, tmp_path):
    folder = make_run(tmp_path / "r", Fake(references={}))
    target = tmp_path / "g.json"
    assert main(["export", str(folder), "--gbench", "--out", str(target)]) == 0
    content = json.loads(target.read_text("utf-8"))
    assert len(content["benchmarks"]) == 20
    assert content["benchmarks"][0]["repetitions"] == 10
    assert main(["report", "--data", str(target)]) == 0
    assert "STRONG GO" in capsys.readouterr().out
