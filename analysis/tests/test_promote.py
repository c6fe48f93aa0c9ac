"""A default changes only with evidence and a fresh confirmation; a box that lost leaves a card."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from synthetic import BOX, Fake, make_run, manifest_of
from test_layout import make_layouts

from hakmem_analysis import AnalysisError, load_run
from hakmem_analysis import promote as promoting
from hakmem_analysis.cli import main
from hakmem_analysis.history import read_history
from hakmem_analysis.promote import check_evidence, confirmation_experiment
from hakmem_analysis.registry import BoxEntry, with_field, without_expiry
from hakmem_analysis.retire import retire

LIST = """// The list.

HAKMEM_BOX(other,
           .env = "HAKMEM_OTHER",
           .default_value = 1,
           .status = Status::research,
           .expiry = "2027-06-30")

HAKMEM_BOX(refill_batch,
           .env = "HAKMEM_REFILL_BATCH",
           .default_value = 1,
           .status = Status::research,
           .live = true,
           .expiry = "2027-06-30",
           .counter = "refills")
"""
ENTRY = BoxEntry("refill_batch", BOX, "data", 1, "research", "why it should help", "q")
ANSWERS = {
    "id": "refill_batch",
    "env": BOX,
    "kind": "data",
    "default_value": 1,
    "status": "research",
    "hypothesis": "why it should help",
    "phase": "q",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository as small as it can be, with a `hak` that answers."""
    root = tmp_path / "root"
    for name in ("boxes", "docs", "ci", "core", "results"):
        (root / name).mkdir(parents=True)
    (root / "boxes/boxes.def").write_text(LIST)
    (root / "docs/boxes.md").write_text("old page\n")
    (root / "ci/build.sh").write_text("exit ${BUILD_FAILS:-0}\n")
    (root / "core/front.cpp").write_text("value_of(Id::refill_batch)\n")
    hak = tmp_path / "hak"
    page = "printf '# Boxes\\n'"
    hak.write_text(f"#!/bin/sh\ncase $2 in --json) cat <<'E'\n[{json.dumps(ANSWERS)}]\nE\n;;\n"
                   f"*) {page} ;; esac\n")  # fmt: skip
    hak.chmod(0o755)
    monkeypatch.setenv("HAK_ROOT", str(root))
    monkeypatch.setenv("HAK_PROGRAM", str(hak))
    return root


def with_defaults(defaults: dict[str, int]):
    """Makes each arm's library report its own default of the box."""

    def change(record):
        report = record["proof"]["report"]
        if report:
            report["boxes"][BOX]["default"] = defaults.get(record["arm"], 1)
        return record

    return change


def evidence(folder: Path, effect: float = 4.0, **changes) -> Path:
    fake = Fake(effects={"treatment": effect}, change=with_defaults({}), **changes)
    fake.manifest = {
        "experiment": {**manifest_of(fake)["experiment"], "box": BOX, "values": [1, 16]}
    }
    fake.manifest["experiment"]["workloads"] = [
        {"name": "random_mixed", "cell": "random_mixed", "params": {"slots": 400}, "primary": True}
    ]
    return make_run(folder, fake)


def confirmation(folder: Path, effect: float = 4.0, new: int = 16, day: str = "02") -> Path:
    """The libraries differ: their hash, and what they report as the default."""
    fake = Fake(effects={"treatment": effect}, seed=8, change=with_defaults({"treatment": new}))
    fake.manifest = {"started": f"2026-12-{day}T02:30:00Z", "run": f"202612{day}-023000"}
    return make_run(folder, fake)


def test_a_confirmed_go_changes_the_default_and_the_page(capsys, root, tmp_path):
    first, second = evidence(tmp_path / "e"), confirmation(tmp_path / "c")
    arguments = ["promote", "refill_batch", "--evidence", str(first), "--confirmation", str(second)]
    assert main(arguments) == 0
    text = (root / "boxes/boxes.def").read_text()
    entry = text[text.index("HAKMEM_BOX(refill_batch") :]
    assert ".default_value = 16," in entry and "Status::default_on" in entry
    assert "expiry" not in entry and '.counter = "refills")' in entry
    assert text[: text.index("HAKMEM_BOX(refill_batch")] == LIST[: LIST.index("HAKMEM_BOX(refill")]
    assert (root / "docs/boxes.md").read_text() == "# Boxes\n"
    assert "the default is 16 now, it was 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda p: confirmation(p, effect=0.0), "its decision is NEUTRAL"),
        (lambda p: confirmation(p, effect=-4.0), "its decision is NO-GO"),
        (lambda p: confirmation(p, day="01"), "it is not younger than the evidence"),
        (lambda p: confirmation(p, new=1), "has the default 1 of HAKMEM_REFILL_BATCH, not 16"),
    ],
)
def test_a_confirmation_that_does_not_confirm_changes_nothing(
    capsys, root, tmp_path, make, message
):
    first, second = evidence(tmp_path / "e"), make(tmp_path / "c")
    arguments = ["promote", BOX, "--evidence", str(first), "--confirmation", str(second)]
    assert main(arguments) == 4
    assert message in capsys.readouterr().err
    assert (root / "boxes/boxes.def").read_text() == LIST


def test_the_evidence_does_not_confirm_itself(capsys, root, tmp_path):
    first = evidence(tmp_path / "e")
    arguments = ["promote", BOX, "--evidence", str(first), "--confirmation", str(first)]
    assert main(arguments) == 4
    assert "not younger" in capsys.readouterr().err


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"effect": 0.0}, "its decision is NEUTRAL"),
        ({"effect": -3.0}, "its decision is NO-GO"),
        ({"status": "interrupted", "blocks": 4}, "the run is interrupted"),
        ({"values": {"baseline": "2", "treatment": "16"}}, "the default is 1"),
    ],
)
def test_evidence_that_is_none(root, tmp_path, changes, message):
    folder = evidence(tmp_path / "e", **changes)
    if "values" in changes:
        path = folder / "manifest.json"
        path.write_text(path.read_text().replace('"values": [\n   1,', '"values": [\n   2,'))
    with pytest.raises(AnalysisError, match=message):
        check_evidence(ENTRY, load_run(folder), False)


def test_evidence_about_another_box(root, tmp_path):
    other = BoxEntry("other", "HAKMEM_OTHER", "data", 1, "research", "h", "q")
    with pytest.raises(AnalysisError, match=f"it is about {BOX}"):
        check_evidence(other, load_run(evidence(tmp_path / "e")), False)


def test_results_of_unlike_machines_do_not_confirm_each_other(root, tmp_path):
    first, second = evidence(tmp_path / "e"), confirmation(tmp_path / "c")
    path = second / "manifest.json"
    path.write_text(path.read_text().replace('"cores": 2', '"cores": 32'))
    arguments = ["promote", BOX, "--evidence", str(first), "--confirmation", str(second)]
    assert main(arguments) == 4
    assert main([*arguments, "--force"]) == 0


SHAPE = {**ANSWERS, "kind": "shape"}


@pytest.fixture
def shape(root: Path, tmp_path: Path) -> None:
    """The box has hot code of its own."""
    hak = tmp_path / "hak"
    hak.write_text(hak.read_text().replace(json.dumps(ANSWERS), json.dumps(SHAPE)))


def layouts(folder: Path, effects: list[float], box: str = BOX, new: int = 16) -> Path:
    make_layouts(folder, effects)
    path = folder / "layout.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "box": box, "values": [1, new]}))
    return folder


def promoted(tmp_path: Path, *words: str) -> int:
    first, second = evidence(tmp_path / "e"), confirmation(tmp_path / "c")
    arguments = ["promote", BOX, "--evidence", str(first), "--confirmation", str(second)]
    return main([*arguments, *words])


def test_own_code_is_promoted_over_many_layouts(capsys, root, shape, tmp_path):
    layouts(root / "results/layout/refill_batch-20261201-023000", [0.0] * 8)
    layouts(root / "results/layout/refill_batch-20261202-023000", [3.0] * 8)
    assert promoted(tmp_path) == 0
    said = capsys.readouterr().out
    assert "refill_batch-20261202-023000: +" in said and "8 layouts" in said
    assert ".default_value = 16," in (root / "boxes/boxes.def").read_text()


def test_own_code_is_not_promoted_without_layouts(capsys, root, shape, tmp_path):
    assert promoted(tmp_path) == 4
    assert "measure them with hak layout refill_batch" in capsys.readouterr().err
    assert (root / "boxes/boxes.def").read_text() == LIST


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"effects": [3.0] * 7}, "it has 7 layouts"),
        ({"effects": [6.0, -5.0] * 4}, "over the layouts its decision is UNDECIDED"),
        ({"effects": [-3.0] * 8}, "over the layouts its decision is NO-GO"),
        ({"effects": [3.0] * 8, "box": "HAKMEM_OTHER"}, "it is about HAKMEM_OTHER=16"),
        ({"effects": [3.0] * 8, "new": 32}, f"it is about {BOX}=32"),
    ],
)
def test_layouts_that_do_not_speak_for_it(capsys, root, shape, tmp_path, changes, message):
    folder = layouts(tmp_path / "layouts", **changes)
    assert promoted(tmp_path, "--layout", str(folder)) == 4
    assert message in capsys.readouterr().err
    assert (root / "boxes/boxes.def").read_text() == LIST


def test_without_a_confirmation_one_is_measured(root, tmp_path, monkeypatch):
    first = evidence(tmp_path / "e")
    asked = []

    def measure(root, change, results):
        asked.append((change.old, change.new, results))
        return confirmation(tmp_path / "c")

    monkeypatch.setattr(promoting, "confirm", measure)
    assert main(["promote", BOX, "--evidence", str(first)]) == 0
    assert asked == [(1, 16, root / "results")]


def test_the_confirmation_has_both_defaults_other_seeds_and_the_same_cell(root, tmp_path):
    run = load_run(evidence(tmp_path / "e"))
    change = check_evidence(ENTRY, run, False)
    plan = confirmation_experiment(change, run.manifest["experiment"], "build/x/libhakmem.so")
    assert [arm["library"] for arm in plan["arms"]] == ["standard", "build/x/libhakmem.so"]
    assert [arm["env"][BOX] for arm in plan["arms"]] == ["1", "16"]
    assert plan["seeds"] == [1042, 1043] and plan["runs"] == 10
    assert plan["workloads"] == [
        {"name": "random_mixed", "params": {"slots": 400}, "primary": True}
    ]


def test_a_list_that_does_not_build_is_put_back(capsys, root, tmp_path, monkeypatch):
    monkeypatch.setenv("BUILD_FAILS", "1")
    first, second = evidence(tmp_path / "e"), confirmation(tmp_path / "c")
    arguments = ["promote", BOX, "--evidence", str(first), "--confirmation", str(second)]
    assert main(arguments) == 4
    assert "put back" in capsys.readouterr().err
    assert (root / "boxes/boxes.def").read_text() == LIST
    assert (root / "docs/boxes.md").read_text() == "old page\n"


def test_the_repositorys_own_list_can_be_edited():
    path = Path(__file__).parents[2] / "boxes" / "boxes.def"
    text = path.read_text()
    for box_id in ("refill_batch", "c7_ultra", "c7_ultra_alloc_depchain_opt"):
        changed = with_field(text, box_id, "default_value", "77")
        lines = [(a, b) for a, b in zip(text.splitlines(), changed.splitlines()) if a != b]
        assert len(lines) == 1 and lines[0][1].strip() == ".default_value = 77,"
    assert without_expiry(text, "c7_ultra_alloc_depchain_opt").count(".expiry") == (
        text.count(".expiry") - 1
    )
    with pytest.raises(AnalysisError, match="no entry of 'nothing'"):
        with_field(text, "nothing", "default_value", "1")


def test_an_unknown_box_lists_what_there_is(capsys, root, tmp_path):
    assert main(["promote", "none", "--evidence", str(tmp_path)]) == 4
    assert "name one of refill_batch" in capsys.readouterr().err


def test_retiring_leaves_a_card_that_history_shows(capsys, root, tmp_path):
    folder = evidence(root / "results/q/20261201-023000", effect=-4.0)
    assert main(["report", str(folder)]) == 0
    assert main(["retire", BOX, "--reason", "lists were faster"]) == 0
    said = capsys.readouterr().out
    assert "core/front.cpp" in said
    card = json.loads((root / "results/cards/refill_batch.json").read_text())
    assert card["decision"] == "NO-GO" and card["reason"] == "lists were faster"
    assert card["result"] == "q/20261201-023000" and card["delta_pct"] < -3
    text = (root / "boxes/boxes.def").read_text()
    assert "Status::archived" in text[text.index("HAKMEM_BOX(refill_batch") :]
    entries, warnings = read_history(root / "results")
    assert warnings == [] and [e.run for e in entries if e.run == "card"] == ["card"]


def test_a_box_without_a_verdict_or_in_the_default_is_not_retired(root):
    with pytest.raises(AnalysisError, match="no result decides about"):
        retire(root, ENTRY, root / "results", "", date(2026, 12, 2))
    default = BoxEntry("refill_batch", BOX, "data", 16, "default-on", "h", "q")
    with pytest.raises(AnalysisError, match="is in the default"):
        retire(root, default, root / "results", "", date(2026, 12, 2))
    assert (root / "boxes/boxes.def").read_text() == LIST
