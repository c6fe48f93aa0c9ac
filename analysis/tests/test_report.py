"""report.md and plots: golden text, figures that a reader can trust, deterministic files."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from synthetic import BOX, Fake, make_run

from hakmem_analysis.cli import main

HERE = Path(__file__).parent
GOLDEN = HERE / "data" / "report.golden.md"


def report(folder: Path, fake: Fake | None = None) -> str:
    make_run(folder, fake)
    assert main(["report", str(folder)]) in (0, 12)
    return (folder / "report.md").read_text("utf-8")


def full_folder(folder: Path) -> Path:
    """A run with everything that a report can show."""
    fake = Fake(
        cells=("random_mixed", "larson"),
        effects={"treatment": 3.0, "b64": -2.0},
        values={"baseline": "1", "treatment": "16", "b64": "64"},
        references={"mimalloc": 97.0, "glibc": 55.0},
    )
    make_run(folder, fake)
    rows = [
        {
            "quantity": "instructions of malloc",
            "unit": "per op",
            "baseline": 15,
            "treatment": 14,
            "source": "callgrind",
        }
    ]
    (folder / "mechanism.json").write_text(json.dumps({"format": 1, "rows": rows}))
    rows = [{"principle": "Reversible", "status": "yes", "evidence": "tests pass on and off"}]
    (folder / "compliance.json").write_text(json.dumps({"format": 1, "rows": rows}))
    notes = "# Root cause\n\nThe slow path.\n\n```\n# not a heading\n```\n"
    (folder / "notes.md").write_text(notes)
    return folder


def test_report_is_the_golden_one(tmp_path):
    folder = full_folder(tmp_path / "quickstart" / "run")
    assert main(["report", str(folder)]) == 0
    text = (folder / "report.md").read_text("utf-8")
    if os.environ.get("HAK_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")


def test_builds_are_shown_with_their_training_and_gain(tmp_path):
    training = {"workloads": [{"workload": "dist_app"}, {"workload": "burst"}]}
    arms = [
        {"name": "standard", "role": "baseline", "profile": "standard", "flags": "-Wall -O2"},
        {
            "name": "fast-pgo",
            "role": "treatment",
            "profile": "fast-pgo",
            "flags": "-O3 -flto -fprofile-use",
            "training": training,
        },
    ]
    for arm in arms:
        arm.update(library=arm["name"], compiler="gcc 12.2.0", env={}, sha256=arm["name"] + "-sha")
    values = {"baseline": "16", "fast-pgo": "16"}
    effects = {"fast-pgo": 5.0}
    fake = Fake(manifest={"arms": arms}, effects=effects, values=values, references={})
    text = report(tmp_path / "ceiling", fake)
    section = text.split("### Builds")[1].split("\n## ")[0]
    row = next(line for line in section.splitlines() if line.startswith("| fast-pgo"))
    assert "| `-O3 -flto -fprofile-use` | dist_app, burst |" in row
    assert re.search(r"\| \+[45]\.\d+ % \| \+\d.*\+\d.* % \| 10 \|", row)
    assert "### Builds" not in report(tmp_path / "boxes")


def test_same_files_give_the_same_bytes(tmp_path):
    first, second = full_folder(tmp_path / "p" / "a"), full_folder(tmp_path / "p" / "b")
    for folder in (first, second):
        main(["report", str(folder)])
    names = sorted(p.relative_to(first) for p in first.rglob("*") if p.is_file())
    assert {Path(f"plots/{n}.svg") for n in ("runs", "distribution", "interval", "forest")} < set(
        names
    )
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_notes_are_included_and_left_alone(tmp_path):
    folder = full_folder(tmp_path / "r")
    before = (folder / "notes.md").read_bytes()
    main(["report", str(folder)])
    assert (folder / "notes.md").read_bytes() == before
    text = (folder / "report.md").read_text("utf-8")
    assert "### Root cause" in text and "\n# not a heading" in text


def test_figures_agree_with_verdict_json(tmp_path):
    text = report(tmp_path / "r")
    content = json.loads((tmp_path / "r" / "verdict.json").read_text("utf-8"))
    assert f"**{content['decision']}**" in text
    low, high = content["references"]["mimalloc"]["ci95_pct"]
    assert f"(95 % {low:.1f}…{high:.1f} %, 10 blocks of this session)" in text
    assert content["evidence"]["ci95_pct"][0] == pytest.approx(2.42, abs=0.005)


@pytest.mark.parametrize(
    "fake",
    [
        Fake(blocks=0),
        Fake(blocks=1),
        Fake(blocks=2),
        Fake(sd_pct=0.0, drift_pct=0.0, effects={"treatment": 0.0}),
        Fake(sd_pct=0.0, drift_pct=0.0, effects={"treatment": 5.0}),
        Fake(blocks=3, sd_pct=300.0),
        Fake(references={}, experiment={"forecast": None, "guards": []}),
        Fake(cells=("a", "b"), change=lambda r: r if r["cell"] == "b" else None),
        Fake(blocks=4, status="interrupted"),
        Fake(experiment={"forecast": {"low": 226, "high": 443}}),
        Fake(
            manifest={"machine": None, "build": None, "git": None, "doctor": None, "missing": None}
        ),
    ],
)
def test_edges_without_nan(tmp_path, fake):
    text = report(tmp_path / "r", fake)
    assert not re.search(r"\b(nan|NaN|inf|None)\b", text)
    for name in ("verdict.json", "report.md"):
        assert "NaN" not in (tmp_path / "r" / name).read_text("utf-8")
    check_tables(text)


def check_tables(text: str) -> None:
    """Every row of a table has as many cells as its head."""
    width = 0
    for line in text.splitlines():
        cells = len(re.sub(r"\\\|", "", line).split("|")) if line.startswith("|") else 0
        assert not (width and cells) or cells == width, line
        width = cells


def test_every_plot_named_is_there(tmp_path):
    folder = full_folder(tmp_path / "r")
    main(["report", str(folder)])
    text = (folder / "report.md").read_text("utf-8")
    named = re.findall(r"\]\((plots/[a-z]+\.svg)\)", text)
    assert len(named) == 4
    for name in named:
        assert (folder / name).read_text("utf-8").startswith("<?xml")
    check_tables(text)


def test_a_moved_folder_gives_the_same_report(tmp_path):
    folder = full_folder(tmp_path / "p" / "a")
    main(["report", str(folder)])
    before = (folder / "report.md").read_bytes()
    moved = tmp_path / "elsewhere" / "q" / "b"
    moved.parent.mkdir(parents=True)
    folder.rename(moved)
    assert main(["report", str(moved)]) == 0
    assert (moved / "report.md").read_bytes() == before


@pytest.mark.parametrize(
    "effect, values, line",
    [
        (4.0, ("16", "32"), "change `.default_value = 16,` to `.default_value = 32,`"),
        (4.0, ("1", "16"), "is the better arm and the default already"),
        (-4.0, ("8", "16"), "change `.default_value = 16,` to `.default_value = 8,`"),
        (0.0, ("16", "32"), f"Leave the default of 16 of `{BOX}`"),
        (0.0, ("16", "16"), "there is nothing to decide"),
    ],
)
def test_the_line_to_change(tmp_path, effect, values, line):
    fake = Fake(effects={"treatment": effect}, values=dict(zip(("baseline", "treatment"), values)))
    assert line in report(tmp_path / "r", fake)


def test_void_blocks_and_seeds_are_listed(tmp_path):
    def change(record):
        if record["block"] == 4:
            record["void"] = "steal 9 % is beyond 5 %"
        return record

    text = report(tmp_path / "r", Fake(change=change))
    assert "- void: cell random_mixed, block 4, attempt 1: steal 9 % is beyond 5 %" in text
    assert "only 9 of 10 planned blocks are valid" in text


def test_calibration_is_quoted(tmp_path):
    folder = make_run(tmp_path / "results" / "quickstart" / "run")
    content = {"format": 1, "fingerprint": "f00d", "verdict": "PASS", "sd_pct": 0.84, "blocks": 100}
    path = tmp_path / "results" / "calibration.json"
    path.write_text(json.dumps({**content, "needed_blocks": {"1": 8}}))
    main(["report", str(folder)])
    text = (folder / "report.md").read_text("utf-8")
    assert "A/A PASS; sd of a block's difference 0.84 %; 8 blocks to see 1 % (100 blocks)" in text
    path.write_text(json.dumps({**content, "fingerprint": "other"}))
    main(["report", str(folder)])
    assert "of another machine" in (folder / "report.md").read_text("utf-8")


def test_two_boxes_show_their_interaction(tmp_path):
    arms = {"baseline": "0", "a": "1", "b": "0", "both": "1"}
    fake = Fake(
        effects={"a": 2.0, "b": 1.0, "both": 6.0},
        values=arms,
        cells=("random_mixed", "larson threads=4"),
    )
    folder = make_run(tmp_path / "r", fake)
    manifest = json.loads((folder / "manifest.json").read_text())
    for arm in manifest["arms"][:4]:
        arm["env"]["HAKMEM_OTHER"] = "1" if arm["name"] in ("b", "both") else "0"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    lines = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    for record in lines:
        if record["proof"]["report"]:
            value = int(record["arm"] in ("b", "both"))
            boxes = record["proof"]["report"]["boxes"]
            boxes["HAKMEM_OTHER"] = {"value": value, "default": 0, "uses": 3}
    (folder / "samples.jsonl").write_text("".join(json.dumps(r) + "\n" for r in lines))
    main(["report", str(folder)])
    text = (folder / "report.md").read_text("utf-8")
    assert "## Two boxes together" in text and "The boxes help each other" in text
    square = json.loads((folder / "verdict.json").read_text("utf-8"))["factorial"]
    assert (square["first"], square["second"]) == ("HAKMEM_OTHER", BOX)
    assert [cell["cell"] for cell in square["cells"]] == ["random_mixed", "larson threads=4"]
    for cell in square["cells"]:
        assert cell["n"] == 10
        effects = cell["effects"]
        true = {"first": 1.0, "second": 2.0, "both": 6.0}
        true["interaction"] = 100.0 * (1.06 / (1.02 * 1.01) - 1.0)
        for name, value in true.items():
            low, high = effects[name]["ci95_pct"]
            assert low < effects[name]["delta_pct"] < high
            assert effects[name]["delta_pct"] == pytest.approx(value, abs=1.0)
        assert effects["interaction"]["p_value"] < 0.01


def test_gate_tax_compares_arms_of_the_same_boxes(tmp_path):
    def twin(boxes, of_both=None):
        folder = make_run(tmp_path / str(len(boxes)), Fake(references={"standard": 110.0}))
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["arms"][2]["env"] = boxes
        for arm in manifest["arms"][:2]:
            arm["env"] |= of_both or {}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        main(["report", str(folder)])
        return (folder / "report.md").read_text("utf-8")

    # baseline 20 ns an operation, the treatment 3 % faster, the standard library 10 % faster
    text = twin({BOX: "16"})
    assert re.search(r"Gate tax .*: \+2\.\d\d ns per pair .*10 blocks, arm treatment\)", text)
    assert "% of standard" not in text
    assert re.search(r"Gate tax .*: \+3\.\d\d ns per pair .*arm baseline\)", twin({}))
    assert "no two blocks with an arm of the boxes" in twin({BOX: "4", "HAKMEM_OTHER": "1"})
    assert "no two blocks with an arm of the boxes" in twin({}, of_both={"HAKMEM_OTHER": "1"})
