"""From folders to verdicts: guards, Holm, sequential runs, proof of execution, slices."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from synthetic import BOX, Fake, make_run

from hakmem_analysis import judge_run, load_run
from hakmem_analysis.slices import process_rates
from hakmem_analysis.stats.decide import Word, word_of
from hakmem_analysis.verdict import headline, verdict_json


def judged(folder: Path, fake: Fake):
    return judge_run(load_run(make_run(folder, fake)))


def record_of(folder: Path, fake: Fake) -> dict:
    run = load_run(make_run(folder, fake))
    content = verdict_json(judge_run(run), "baseline", run.plan.box, run.plan.values)
    json.dumps(content, allow_nan=False)
    return content


def with_proof(**changes):
    """A change of records that edits the treatment's proof."""

    def change(record):
        if record["arm"] == "treatment":
            record["proof"] = {**record["proof"], **changes}
        return record

    return change


def with_box(**changes):
    def change(record):
        if record["arm"] == "treatment":
            record["proof"]["report"]["boxes"][BOX].update(changes)
        return record

    return change


@pytest.mark.parametrize("effect, word", [(4.0, "STRONG GO"), (0.0, "NEUTRAL"), (-4.0, "NO-GO")])
def test_decisions(tmp_path, effect, word):
    content = record_of(tmp_path, Fake(effects={"treatment": effect}))
    assert content["decision"] == word and content["exit_code"] == 0
    assert content["evidence"]["pairing"] == "paired" and content["evidence"]["n"] == 10
    assert content["references"]["mimalloc"]["n"] == 10
    low, high = content["references"]["mimalloc"]["ci95_pct"]
    assert low < 100 / 0.97 < high


def test_every_word_reads_back():
    assert [word_of(word.text) for word in Word] == list(Word)
    with pytest.raises(ValueError):
        word_of("MAYBE")


def test_lower_is_better(tmp_path):
    metric = {"metric": {"name": "ns_per_op", "direction": "lower"}}
    content = record_of(tmp_path, Fake(effects={"treatment": 4.0}, experiment=metric))
    assert content["decision"] == "STRONG GO"
    assert content["rule"]["mean_delta_pct"] > 3
    assert content["arms"]["treatment"]["mean"] < content["arms"]["baseline"]["mean"]


@pytest.mark.parametrize("status", ["crash", "timeout", "bad_output", "failed_check", "no_proof"])
def test_a_failed_run_makes_its_cell_invalid(tmp_path, status):
    def change(record):
        if (record["cell"], record["arm"], record["block"]) == ("a", "treatment", 3):
            record.update(status=status, detail="why")
        return record

    verdict = judged(tmp_path, Fake(cells=("a", "b"), change=change))
    assert verdict.decision is Word.INVALID and verdict.exit_code == 12
    assert f"treatment: 1 of its runs ended in {status} (why)" in verdict.primary.invalid_reasons
    assert verdict.primary.rule is None and verdict.primary.evidence.n == 9
    assert verdict.comparisons[1].word is Word.STRONG_GO
    assert "INVALID" in headline(verdict) and "NEUTRAL" not in headline(verdict)


def test_a_failed_run_in_another_cell_shows_in_the_exit_code(tmp_path):
    def change(record):
        if (record["cell"], record["arm"], record["block"]) == ("b", "treatment", 3):
            record.update(status="crash")
        return record

    verdict = judged(tmp_path, Fake(cells=("a", "b"), change=change))
    assert (verdict.decision, verdict.qualifier) == (Word.UNDECIDED, "guard")
    assert verdict.exit_code == 12


def test_a_failed_reference_costs_only_its_figure(tmp_path):
    def change(record):
        if record["arm"] == "mimalloc" and record["block"] == 0:
            record["status"] = "crash"
        return record

    content = record_of(tmp_path, Fake(change=change))
    assert content["decision"] == "STRONG GO"
    assert content["references"]["mimalloc"]["baseline_pct"] is None
    assert "ended in crash" in content["references"]["mimalloc"]["reason"]


def test_interrupted_samples_are_no_failure(tmp_path):
    def change(record):
        if record["block"] == 9 and record["arm"] == "treatment":
            record["status"] = "interrupted"
        return record

    verdict = judged(tmp_path, Fake(change=change, status="interrupted"))
    assert verdict.decision is Word.UNDECIDED
    assert verdict.primary.evidence.text == "incomplete: 9 of 10 blocks"
    assert verdict.exit_code == 0 and verdict.gate_code("undecided") == 11


@pytest.mark.parametrize(
    "change, reason",
    [
        (with_proof(ok=False, problems=["libc serves malloc"]), "libc serves malloc"),
        (with_proof(sha256="other"), "not the one of the manifest"),
        (with_box(value=1), f"{BOX} was not 16 in 10 of 10 runs"),
        (with_box(uses=0, default=1), f"{BOX} was never used"),
        (with_box(uses=None, default=1), "nothing proves that"),
        (with_proof(report=None), "gave no report"),
        (lambda r: {**r, "proof": None}, "no proof of execution in 10 of 10 runs"),
        (lambda r: {**r, "checksum": f"x{r['arm']}"}, "checksum differs between runs with seed 42"),
        (lambda r: {**r, "metrics": {"wall_s": 1.0}}, "no block in which both arms have a value"),
        (lambda r: {**r, "metrics": {"ops_per_s": 0.0}}, "is not above 0"),
    ],
)
def test_what_is_not_proven_is_invalid(tmp_path, change, reason):
    verdict = judged(tmp_path, Fake(change=change))
    assert verdict.decision is Word.INVALID
    assert any(reason in text for text in verdict.primary.invalid_reasons)


def test_a_shape_is_proven_by_its_variant_or_the_observe_run(tmp_path):
    def shaped(variant):
        def change(record):
            if record["arm"] == "treatment":
                record["proof"]["report"]["variant"] = variant
                record["proof"]["report"]["boxes"][BOX].update(uses=None, default=1)
            return record

        return change

    assert judged(tmp_path / "a", Fake(change=shaped("refill"))).decision is Word.STRONG_GO
    counted = {"observe": {"treatment": {BOX: {"executed": 5}}, "baseline": {BOX: {"executed": 5}}}}
    fake = Fake(change=shaped("baseline"), manifest=counted)
    assert judged(tmp_path / "b", fake).decision is Word.STRONG_GO
    never = {"observe": {"treatment": {BOX: {"executed": 0}}}}
    fake = Fake(change=shaped("refill"), manifest=never)
    reasons = judged(tmp_path / "c", fake).primary.invalid_reasons
    assert reasons == (f"treatment: {BOX} was never executed in the observe pre-run",)


def test_variables_that_are_no_boxes_prove_nothing(tmp_path):
    folder = make_run(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    for index, arm in enumerate(manifest["arms"]):
        arm["env"] |= {"HAK_PAD": "x" * index, "HAKMEM_STRICT": "1", "HAKMEM_REPORT": str(index)}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    run = load_run(folder)
    assert run.plan.box == BOX and judge_run(run).decision is Word.STRONG_GO


def test_a_timeout_counts_unless_its_block_is_void(tmp_path):
    def late(void):
        def change(record):
            if record["arm"] == "treatment" and record["block"] == 2:
                record.update(status="timeout", void=void)
            return record

        return change

    assert judged(tmp_path / "a", Fake(change=late(None))).decision is Word.INVALID
    assert judged(tmp_path / "b", Fake(change=late("steal"))).decision is Word.STRONG_GO


def test_same_binary_is_announced(tmp_path):
    fake = Fake(effects={"treatment": 0.0}, values={"baseline": "16", "treatment": "16"})
    verdict = judged(tmp_path, fake)
    assert verdict.is_aa and "A/A" in headline(verdict)
    assert verdict.forecast.outcome == "unknown"


def test_metric_guard_fails_and_turns_go_into_no_go(tmp_path):
    def fat(record):
        if record["arm"] == "treatment":
            record["metrics"]["peak_rss_kib"] *= 1.10
        return record

    content = record_of(tmp_path, Fake(change=fat))
    assert (content["decision"], content["qualifier"]) == ("NO-GO", "guard")
    guard = content["guards"][0]
    assert guard["state"] == "FAIL" and guard["change_pct"] == pytest.approx(10, abs=0.5)


def test_open_guard_holds_a_go_back(tmp_path):
    generator = np.random.default_rng(1)

    def noisy(record):
        record["metrics"]["peak_rss_kib"] *= float(np.exp(generator.normal(0, 0.1)))
        return record

    verdict = judged(tmp_path / "a", Fake(change=noisy))
    assert (verdict.decision, verdict.qualifier) == (Word.UNDECIDED, "guard")
    gone = {"guards": [{"metric": "latency_ns.p99", "margin_pct": 5}]}
    verdict = judged(tmp_path / "b", Fake(experiment=gone))
    assert verdict.guards[0].reason == "not enough runs with this metric"
    assert verdict.decision_text == "UNDECIDED (guard)"


def test_guard_margin_is_of_the_metric_itself(tmp_path):
    def heavier(share):
        def change(record):
            record["metrics"]["peak_rss_kib"] = 1000 + record["block"]
            if record["arm"] == "treatment":
                record["metrics"]["peak_rss_kib"] *= share
            return record

        return change

    assert judged(tmp_path / "a", Fake(change=heavier(1.0199))).guards[0].state == "PASS"
    assert judged(tmp_path / "b", Fake(change=heavier(1.0201))).guards[0].state == "FAIL"
    zero = {"guards": [{"metric": "major_faults", "direction": "lower", "margin_pct": 2}]}

    def no_faults(record):
        record["metrics"]["major_faults"] = 0
        return record

    guard = judged(tmp_path / "c", Fake(change=no_faults, experiment=zero)).guards[0]
    assert (guard.state, guard.change_pct) == ("PASS", 0.0)


def test_another_cell_guards_the_metric(tmp_path):
    def slow(record):
        if record["cell"] == "larson" and record["arm"] == "treatment":
            record["metrics"]["ops_per_s"] *= 0.93
        return record

    verdict = judged(tmp_path, Fake(cells=("random_mixed", "larson"), change=slow))
    assert verdict.decision_text == "NO-GO (guard)" and verdict.gate_code("no-go") == 10
    states = {(g.cell, g.metric): g.state for g in verdict.guards}
    assert states["larson", "ops_per_s"] == "FAIL"
    assert states["random_mixed", "peak_rss_kib"] == "PASS"


def test_holm_over_the_other_comparisons(tmp_path):
    cells = tuple(f"cell/{i}" for i in range(12))
    verdict = judged(tmp_path, Fake(cells=cells, effects={"treatment": 0.9}, sd_pct=0.9, seed=3))
    corrected = [c for c in verdict.comparisons if c.evidence.before_correction is not None]
    assert corrected and all(c.role == "guard" for c in corrected)
    held_back = [c for c in corrected if c.word is Word.UNDECIDED]
    assert held_back and "not after Holm's correction" in held_back[0].evidence.text
    assert verdict.primary.evidence.before_correction is None


def test_several_treatments_one_decides(tmp_path):
    fake = Fake(
        effects={"treatment": 4.0, "b64": -4.0},
        values={"baseline": "1", "treatment": "16", "b64": "64"},
    )
    verdict = judged(tmp_path, fake)
    roles = [(c.treatment.name, c.role, c.word) for c in verdict.comparisons]
    assert roles[0] == ("treatment", "primary", Word.STRONG_GO)
    assert roles[1] == ("b64", "secondary", Word.NO_GO)
    assert verdict.decision is Word.STRONG_GO


def test_blocks_beyond_the_plan_are_not_used(tmp_path):
    verdict = judged(tmp_path, Fake(blocks=15, experiment={"runs": 10}))
    assert verdict.primary.evidence.n == 10
    assert any("beyond the 10 planned blocks" in text for text in verdict.warnings)


def test_sequential_run_uses_pococks_levels(tmp_path):
    sequential = {"until_decided": True, "runs": 80}
    verdict = judged(tmp_path / "a", Fake(experiment=sequential))
    assert verdict.primary.evidence.look == 10
    assert verdict.primary.evidence.levels.two_sided == pytest.approx(0.0160, abs=1e-4)
    noisy = Fake(blocks=25, sd_pct=9.0, effects={"treatment": 0.0}, experiment=sequential)
    verdict = judged(tmp_path / "b", noisy)
    assert verdict.primary.evidence.look == 20 and verdict.primary.evidence.n == 20
    assert len(verdict.primary.pair.first) == 20
    shorter = {"until_decided": True, "looks": [10, 20, 40]}
    verdict = judged(tmp_path / "c", Fake(experiment=shorter))
    assert verdict.primary.evidence.levels.one_sided == pytest.approx(0.0218, abs=1e-4)


@pytest.mark.parametrize(
    "low, high, outcome",
    [(2.0, 6.0, "met"), (3.3, 9.0, "possible"), (20.0, 40.0, "missed"), (-5, -1, "missed")],
)
def test_forecast_is_scored(tmp_path, low, high, outcome):
    fake = Fake(experiment={"forecast": {"low": low, "high": high}})
    assert record_of(tmp_path, fake)["forecast"]["outcome"] == outcome


def slices_run(
    folder: Path, effect: float, aa: float = 0.0, struck: float = 0.0, **manifest
) -> Path:
    """Six processes of slices and six A/A processes; each has a speed of its own. `struck`: the share
    of the treatment's slices that last a quarter longer."""
    make_run(folder, Fake(blocks=0, experiment={"mode": "slices", "runs": 6}, manifest=manifest))
    generator = np.random.default_rng(9)
    lines = []
    for kind, change in (("slices", effect), ("slices_aa", aa)):
        for process in range(6):
            speed = 1e6 * np.exp(generator.normal(0, 0.05))
            pieces = []
            for group in range(50):
                for arm in ("baseline", "treatment", "treatment", "baseline"):
                    gain = 1.0 + (change / 100.0 if arm == "treatment" else 0.0)
                    noise = np.exp(generator.normal(0, 0.004) + 0.0001 * group)
                    if arm == "treatment" and kind == "slices" and generator.random() < struck:
                        noise /= 1.25
                    pieces.append({"arm": arm, "ops": speed * gain * noise, "seconds": 1.0})
            pieces.append({"arm": "baseline", "ops": 1.0, "seconds": 1.0})  # no whole group
            record = {"format": 1, "cell": "random_mixed", "arm": kind, "block": process}
            record |= {"status": "ok", "metrics": {}, "proof": {"ok": True}, "void": None}
            lines.append(json.dumps({**record, "record": {"slices": pieces}}))
    (folder / "samples.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_slices_take_the_process_as_sample(tmp_path):
    verdict = judge_run(load_run(slices_run(tmp_path / "a", 3.0)))
    evidence = verdict.primary.evidence
    assert evidence.n == 6 and evidence.verdict is Word.STRONG_GO
    assert evidence.delta_pct == pytest.approx(3.0, abs=0.1)
    verdict = judge_run(load_run(slices_run(tmp_path / "b", 3.0, aa=2.0)))
    assert verdict.decision is Word.INVALID
    assert verdict.primary.invalid_reasons[0].startswith("A/A failure")
    disagree = {"process_mode": {"run": "x", "decision": "NO-GO"}}
    verdict = judge_run(load_run(slices_run(tmp_path / "c", 3.0, **disagree)))
    assert verdict.primary.word is Word.UNDECIDED
    assert verdict.primary.evidence.text == "slices say STRONG GO, process mode says NO-GO"


def embedded(folder: Path) -> Path:
    """The same slices, the A/A groups in the same processes, as the harness writes them."""
    records = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    by_kind = {kind: [r for r in records if r["arm"] == kind] for kind in ("slices", "slices_aa")}
    for sample, control in zip(by_kind["slices"], by_kind["slices_aa"]):
        sample["record"]["slices_aa"] = control["record"]["slices"]
    text = "".join(json.dumps(sample) + "\n" for sample in by_kind["slices"])
    (folder / "samples.jsonl").write_text(text)
    return folder


def test_the_aa_groups_may_stand_in_the_same_processes(tmp_path):
    verdict = judge_run(load_run(embedded(slices_run(tmp_path / "a", -3.0))))
    assert verdict.primary.evidence.n == 6
    assert verdict.primary.word is Word.NO_GO
    verdict = judge_run(load_run(embedded(slices_run(tmp_path / "b", 3.0, aa=2.0))))
    assert verdict.primary.invalid_reasons[0].startswith("A/A failure")


def test_time_per_operation_from_slices_is_the_inverse(tmp_path):
    metric = {"name": "ns_per_op", "direction": "lower"}
    folder = slices_run(tmp_path, 3.0)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["experiment"]["metric"] = metric
    (folder / "manifest.json").write_text(json.dumps(manifest))
    evidence = judge_run(load_run(folder)).primary.evidence
    assert evidence.delta_pct == pytest.approx(3.0, abs=0.1)


def abba(first: float, second: float, order: str = "ABBA") -> list[dict[str, object]]:
    rates = {"A": first, "B": second}
    return [{"arm": arm, "ops": rates[arm], "seconds": 1.0} for arm in order]


def test_interrupted_slices_and_drift_do_not_move_a_process():
    generator = np.random.default_rng(4)
    pieces = []
    for group in range(400):
        order = ("ABBA", "BAAB")[group % 2]
        speed = 1e6 * (1.0 + 0.001 * group)
        part = abba(speed, speed * 0.995, order)
        for piece in part:
            piece["seconds"] = float(np.exp(generator.normal(0, 0.01)))
            if generator.random() < 0.05:
                piece["seconds"] *= 3.0  # something else ran
        pieces += part
    rates = process_rates(pieces, "A", "B")
    assert rates is not None
    assert rates[1] / rates[0] == pytest.approx(0.995, abs=0.001)


def noisy_slices(generator, groups: int, effect: float) -> list[dict[str, object]]:
    """Slices of a machine on which something else runs half of the time, for longer than a slice and
    shorter than a group."""
    pieces = []
    for group in range(groups):
        part = abba(1e6, 1e6 * effect, ("ABBA", "BAAB")[group % 2])
        is_busy = generator.random() < 0.5
        for piece in part:
            piece["seconds"] = float(np.exp(generator.normal(0, 0.05 if is_busy else 0.003)))
        pieces += part
    return pieces


def test_only_the_calm_groups_count():
    generator = np.random.default_rng(5)
    found = []
    for _ in range(200):
        rates = process_rates(noisy_slices(generator, 150, 0.995), "A", "B")
        assert rates is not None
        found.append(rates[1] / rates[0])
    assert np.mean(found) == pytest.approx(0.995, abs=0.0002)  # no bias
    assert np.std(found) < 0.001  # 0.0014 by the trimmed mean of all groups


def test_an_arm_that_is_struck_now_and_then_is_not_judged_by_its_calm_slices(tmp_path):
    assert judge_run(load_run(slices_run(tmp_path / "even", 0.0))).decision is Word.NEUTRAL
    verdict = judge_run(load_run(slices_run(tmp_path / "struck", 0.0, struck=0.3)))
    assert verdict.decision is Word.UNDECIDED
    assert verdict.primary.evidence.text.startswith(
        "the slices of treatment vary more than those of baseline (in "
    )


def test_groups_that_are_not_whole_are_left_out():
    assert process_rates(abba(2.0, 4.0)[:3], "A", "B") is None
    assert process_rates(abba(2.0, 4.0, "AABB"), "A", "B") is None
    assert process_rates(abba(0.0, 4.0), "A", "B") is None
    assert process_rates(abba(2.0, 4.0, "BAAB"), "A", "B") == pytest.approx((2.0, 4.0))


def test_slices_without_an_aa_part_are_invalid(tmp_path):
    folder = slices_run(tmp_path, 3.0)
    lines = (folder / "samples.jsonl").read_text().splitlines()
    (folder / "samples.jsonl").write_text("\n".join(lines[:6]) + "\n")
    verdict = judge_run(load_run(folder))
    assert verdict.decision is Word.INVALID
    assert "without an A/A run" in verdict.primary.invalid_reasons[0]


def test_too_few_slices_processes_decide_nothing(tmp_path):
    folder = slices_run(tmp_path, 3.0)
    lines = (folder / "samples.jsonl").read_text().splitlines()
    (folder / "samples.jsonl").write_text("\n".join(lines[3:]) + "\n")
    evidence = judge_run(load_run(folder)).primary.evidence
    assert evidence.verdict is Word.UNDECIDED and evidence.text == "3 of at least 6 processes"
