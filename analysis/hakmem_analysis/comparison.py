"""One comparison: a treatment against the baseline in one cell."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from . import slices
from .blocks import Pairs, Selection, log_differences, pairs, table
from .evidence import Evidence, Range, judge_paired, judge_sequential
from .files import Json
from .load import Run
from .pairing import cell_pairs, planned
from .plan import Arm, Cell
from .proof import arm_problems, checksum_problems
from .stats import intervals
from .stats.decide import Band, Levels, Word, word_of
from .stats.describe import ArmStats, Rule, apply_rule, arm_stats
from .stats.intervals import percent
from .stats.multiple import holm


@dataclass(frozen=True)
class Reference:
    """Percent of a reference library, in the same blocks; None with a `reason`."""

    arm: str
    library: str
    n: int
    baseline_pct: float | None
    baseline_ci95_pct: Range | None
    treatment_pct: float | None
    treatment_ci95_pct: Range | None
    reason: str

    def to_json(self) -> Json:
        """As in verdict.json."""
        return {
            "library": self.library,
            "n": self.n,
            "baseline_pct": self.baseline_pct,
            "ci95_pct": None if self.baseline_ci95_pct is None else list(self.baseline_ci95_pct),
            "treatment_pct": self.treatment_pct,
            "treatment_ci95_pct": (
                None if self.treatment_ci95_pct is None else list(self.treatment_ci95_pct)
            ),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Comparison:
    """Everything said of one treatment in one cell. `role` is primary, guard (another cell of the
    deciding treatment) or secondary (a further treatment)."""

    cell: Cell
    treatment: Arm
    role: str
    pair: Pairs
    evidence: Evidence
    rule: Rule | None
    baseline_stats: ArmStats | None
    treatment_stats: ArmStats | None
    references: tuple[Reference, ...] = ()
    invalid_reasons: tuple[str, ...] = ()

    @property
    def word(self) -> Word:
        """The evidence's word, INVALID where something is not proven."""
        return self.evidence.verdict


def _invalid_reasons(run: Run, selection: Selection, cell: Cell, treatment: Arm) -> list[str]:
    if run.plan.mode == "slices":
        return _slices_problems(run, selection, cell, treatment)
    reasons = []
    for arm in (run.plan.baseline, treatment):
        reasons += arm_problems(run, selection, cell.name, arm)
    return reasons + checksum_problems(
        selection, cell.name, [run.plan.baseline.name, treatment.name]
    )


def _slices_problems(run: Run, selection: Selection, cell: Cell, treatment: Arm) -> list[str]:
    reasons = []
    for name in ("slices", "slices_aa"):
        arm = Arm(name, "treatment", "process", {}, None, None)
        reasons += [
            text
            for text in arm_problems(run, selection, cell.name, arm)
            if not text.endswith("no valid run")
        ]
    problem = slices.aa_problem(run, cell.name, treatment.name)
    return [*reasons, problem] if problem else reasons


def _is_incomplete(run: Run, pair: Pairs) -> bool:
    return not run.plan.looks and run.status != "complete" and len(pair.first) < run.plan.runs


def compare(
    run: Run,
    selection: Selection,
    cell: Cell,
    treatment: Arm,
    role: str,
    fixed: tuple[Levels, int] | None,
) -> Comparison:
    """Judges one comparison. `fixed` gives the levels and the blocks of the look at which the primary
    of a sequential run stopped, for the others; None: as the plan says."""
    pair = cell_pairs(run, selection, cell.name, run.plan.metric, treatment.name)
    reasons = _invalid_reasons(run, selection, cell, treatment)
    n = len(pair.first)
    if n == 0 and not reasons and run.status == "complete":
        reasons = [f"no block in which both arms have a value of {run.plan.metric}"]
    if np.any(pair.first <= 0.0) or np.any(pair.second <= 0.0):
        reasons.append(f"{run.plan.metric} is not above 0 in some runs")
    band = Band.of(run.plan.threshold_pct)
    has_ratio = n > 0 and bool(np.all(pair.first > 0.0) and np.all(pair.second > 0.0))
    evidence = _judge(run, pair, band, fixed) if has_ratio else judge_paired(np.empty(0), band)
    if run.plan.looks and has_ratio:
        n = evidence.n
        pair = Pairs(pair.blocks[:n], pair.first[:n], pair.second[:n])
    if _is_incomplete(run, pair):
        text = f"incomplete: {n} of {run.plan.runs} blocks"
        evidence = replace(evidence, verdict=Word.UNDECIDED, text=text)
    if run.plan.mode == "slices" and has_ratio:
        if uneven := slices.uneven_arms(run, cell.name, treatment.name):
            evidence = replace(evidence, verdict=Word.UNDECIDED, text=uneven)
    if reasons:
        evidence = replace(evidence, verdict=Word.INVALID, text=reasons[0], needed_blocks=None)
    base = arm_stats(pair.first) if n else None
    test = arm_stats(pair.second) if n else None
    rule = None
    if base and test and has_ratio and not reasons:
        rule = apply_rule(base, test, run.plan.sign, run.plan.threshold_pct)
    references = tuple(
        reference(run, selection, cell, arm, treatment) for arm in run.plan.references
    )
    return Comparison(
        cell, treatment, role, pair, evidence, rule, base, test, references, tuple(reasons)
    )


def _judge(run: Run, pair: Pairs, band: Band, fixed: tuple[Levels, int] | None) -> Evidence:
    differences = log_differences(pair, run.plan.sign)
    if fixed is not None:
        return judge_paired(differences[: fixed[1]], band, fixed[0])
    if run.plan.looks:
        return judge_sequential(differences, band, run.plan.looks)
    evidence = judge_paired(differences, band)
    if run.plan.mode == "slices" and len(differences) < slices.LEAST_PROCESSES:
        text = f"{len(differences)} of at least {slices.LEAST_PROCESSES} processes"
        return replace(evidence, verdict=Word.UNDECIDED, text=text)
    process = run.manifest.get("process_mode")
    if run.plan.mode != "slices" or not isinstance(process, dict):
        return evidence
    word = combine_with_process(evidence.verdict, str(process.get("decision")))
    if word is evidence.verdict:
        return evidence
    text = f"slices say {evidence.verdict.text}, process mode says {process.get('decision')}"
    return replace(evidence, verdict=word, text=text)


def combine_with_process(word: Word, process_decision: str) -> Word:
    """slices.combine for a word as it stands in a file; an unknown one counts as UNDECIDED."""
    try:
        return slices.combine(word, word_of(process_decision))
    except ValueError:
        return word


def reference(
    run: Run,
    selection: Selection,
    cell: Cell,
    arm: Arm,
    treatment: Arm,
) -> Reference:
    """Baseline and treatment as percent of a reference arm, paired in the same blocks. A reference
    that fails costs only its own figure."""
    names = [run.plan.baseline.name, arm.name]
    reasons = arm_problems(run, selection, cell.name, arm)
    reasons += checksum_problems(selection, cell.name, names)
    values = table(selection, cell.name, run.plan.metric)
    found: list[tuple[int, float | None, Range | None]] = []
    for other in (run.plan.baseline.name, treatment.name):
        pair = planned(run, pairs(values, arm.name, other))
        if reasons or len(pair.first) < 2 or min(pair.first.min(), pair.second.min()) <= 0.0:
            found.append((len(pair.first), None, None))
            continue
        estimate = intervals.paired(log_differences(pair, run.plan.sign))
        low, high = intervals.t_interval(estimate, 0.05)
        shares = [100.0 + percent(float(x)) for x in (estimate.mean, low, high)]
        found.append((len(pair.first), shares[0], (shares[1], shares[2])))
    if found[0][1] is None and not reasons:
        reasons = ["not enough blocks with this arm"]
    return Reference(
        arm.name, arm.library, found[0][0], *found[0][1:], *found[1][1:], "; ".join(reasons)
    )


def correct_secondary(run: Run, comparisons: list[Comparison], alpha: float) -> list[Comparison]:
    """Holm's correction over all comparisons but the primary: a GO, STRONG GO or NO-GO of one of
    them stands only where Holm rejects "no difference", and is judged again at Holm's level."""
    tested = [
        i
        for i, item in enumerate(comparisons)
        if item.role != "primary" and item.evidence.p_value is not None and not item.invalid_reasons
    ]
    levels = holm([comparisons[i].evidence.p_value or 0.0 for i in tested], alpha)
    corrected = list(comparisons)
    band = Band.of(run.plan.threshold_pct)
    for index, level in zip(tested, levels):
        item = comparisons[index]
        if item.word not in (Word.GO, Word.STRONG_GO, Word.NO_GO):
            continue
        text = f"{item.word.text} alone, not after Holm's correction over {len(tested)} comparisons"
        evidence = replace(item.evidence, verdict=Word.UNDECIDED, text=text)
        if level is not None:
            differences = log_differences(item.pair, run.plan.sign)[: item.evidence.n]
            again = judge_paired(differences, band, Levels(level, item.evidence.levels.one_sided))
            if again.verdict is item.word:
                continue
            evidence = again
        corrected[index] = replace(item, evidence=replace(evidence, before_correction=item.word))
    return corrected
