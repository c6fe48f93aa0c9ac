"""The verdict of a run: one record, from which every label in every file comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import errors
from .blocks import Selection, select
from .comparison import Comparison, compare, correct_secondary
from .files import FORMAT, Json
from .forecast import Score, score
from .guards import Guard, guards_of
from .load import Run
from .proof import same_binary
from .stats.decide import Word
from .stats.describe import ArmStats, Rule
from .units import Unit, signed, span, unit_of


@dataclass(frozen=True)
class Verdict:
    """decision: the word that counts; qualifier: "guard" where a guard changed it, else "".
    comparisons: the primary first. `unit` scales the metric for display."""

    phase: str
    run: str
    title: str
    decision: Word
    qualifier: str
    comparisons: tuple[Comparison, ...]
    guards: tuple[Guard, ...]
    forecast: Score
    is_aa: bool
    warnings: tuple[str, ...]
    unit: Unit
    void: tuple[Json, ...]
    looks: tuple[int, ...] = ()  # of a sequential run

    @property
    def primary(self) -> Comparison:
        """The comparison that decides."""
        return self.comparisons[0]

    @property
    def decision_text(self) -> str:
        """The decision with its qualifier, for people."""
        return f"{self.decision.text} ({self.qualifier})" if self.qualifier else self.decision.text

    @property
    def exit_code(self) -> int:
        """12 where the decision or any cell is INVALID, else 0."""
        is_invalid = self.decision is Word.INVALID or any(
            c.invalid_reasons for c in self.comparisons
        )
        return errors.INVALID if is_invalid else errors.OK

    def gate_code(self, gate: str | None) -> int:
        """The exit code with --gate "no-go" (NO-GO 10) or "undecided" (also UNDECIDED 11)."""
        codes = {}
        if gate is not None:
            codes[Word.NO_GO] = errors.GATE_NO_GO
        if gate == "undecided":
            codes[Word.UNDECIDED] = errors.GATE_UNDECIDED
        return self.exit_code or codes.get(self.decision, errors.OK)


def judge_run(run: Run) -> Verdict:
    """Judges a whole result folder."""
    selection = select(run)
    comparisons = _comparisons(run, selection)
    primary = comparisons[0]
    invalid = {
        c.cell.name: c.invalid_reasons[0]
        for c in comparisons
        if c.treatment is primary.treatment and c.invalid_reasons
    }
    guards = guards_of(run, selection, primary.treatment.name, invalid)
    is_aa = same_binary(run, primary.treatment)
    decision, qualifier = with_guards(primary.word, guards)
    return Verdict(
        phase=run.plan.phase,
        run=run.plan.run,
        title=run.plan.title,
        decision=decision,
        qualifier=qualifier,
        comparisons=tuple(comparisons),
        guards=tuple(guards),
        forecast=score(run.plan.forecast, primary.evidence, is_aa),
        is_aa=is_aa,
        warnings=tuple(_warnings(run, selection, primary)),
        unit=unit_of(run.plan.metric),
        void=tuple(_void_rows(selection)),
        looks=run.plan.looks,
    )


def with_guards(word: Word, guards: list[Guard]) -> tuple[Word, str]:
    """GO with a FAIL is NO-GO (guard), with an OPEN guard UNDECIDED (guard); others stay."""
    states = {guard.state for guard in guards}
    if not word.is_go:
        return word, ""
    if "FAIL" in states:
        return Word.NO_GO, "guard"
    return (Word.UNDECIDED, "guard") if "OPEN" in states else (word, "")


def _comparisons(run: Run, selection: Selection) -> list[Comparison]:
    plan = run.plan
    decider = plan.treatments[0]
    first = compare(run, selection, plan.primary, decider, "primary", None)
    look = first.evidence.look
    fixed = None if look is None else (first.evidence.levels, look)
    found = [first]
    for treatment in plan.treatments:
        for cell in plan.cells:
            if treatment is decider and cell.is_primary:
                continue
            role = "guard" if treatment is decider else "secondary"
            found.append(compare(run, selection, cell, treatment, role, fixed))
    return correct_secondary(run, found, first.evidence.levels.two_sided)


def _warnings(run: Run, selection: Selection, primary: Comparison) -> list[str]:
    warnings = [*run.warnings, *selection.warnings]
    n = len(primary.pair.first)
    if run.status != "complete":
        most = run.plan.looks[-1] if run.plan.looks else run.plan.runs
        warnings.append(f"the run is {run.status}: {n} of at most {most} blocks are there")
    elif not run.plan.looks and n < run.plan.runs and n > 0:
        warnings.append(f"only {n} of {run.plan.runs} planned blocks are valid")
    beyond = selection.valid["block"].ge(run.plan.runs).sum() if not run.plan.looks else 0
    if beyond and run.plan.mode != "slices":
        warnings.append(
            f"{beyond} samples lie beyond the {run.plan.runs} planned blocks and were not used"
        )
    return warnings


def _void_rows(selection: Selection) -> list[Json]:
    return [
        {
            "cell": str(row.cell),
            "block": int(row.block),
            "attempt": int(row.attempt),
            "reason": str(row.void),
        }
        for row in selection.void.itertuples()
    ]


def sequential_json(verdict: Verdict) -> Json | None:
    """At which look a sequential run was judged, as in verdict.json; None for a fixed number of
    blocks. `ended` is "decided", "undecided at the last look", or "stopped before a decision"."""
    if not verdict.looks:
        return None
    evidence = verdict.primary.evidence
    is_decided = evidence.verdict not in (Word.UNDECIDED, Word.INVALID)
    is_last = evidence.look == verdict.looks[-1]
    return {
        "looks": list(verdict.looks),
        "look": evidence.look,
        "number": None if not evidence.look else verdict.looks.index(evidence.look) + 1,
        "ended": (
            "decided"
            if is_decided
            else "undecided at the last look"
            if is_last
            else "stopped before a decision"
        ),
        "level_two_sided": evidence.levels.two_sided,
        "level_one_sided": evidence.levels.one_sided,
    }


def look_text(verdict: Verdict) -> str:
    """ "look 2 of 4 (20 blocks), decided", or "before the first of 4 looks"; "" for a fixed number of
    blocks."""
    found = sequential_json(verdict)
    if found is None:
        return ""
    if found["number"] is None:
        return f"before the first of {len(verdict.looks)} looks"
    return (
        f"look {found['number']} of {len(verdict.looks)} ({found['look']} blocks), {found['ended']}"
    )


def headline(verdict: Verdict) -> str:
    """One line: phase, the rule's word, the decision, and the interval with its blocks."""
    primary = verdict.primary
    parts = [f"Phase {verdict.phase}"]
    if verdict.is_aa:
        parts.append("A/A (both arms are the same)")
    if primary.rule is not None:
        rule = primary.rule
        parts.append(
            f"±{rule.threshold_pct:g} % rule: {rule.verdict} ({signed(rule.mean_delta_pct)} %)"
        )
    text = f"evidence: {verdict.decision_text}"
    evidence = primary.evidence
    if verdict.decision is Word.INVALID:
        text += f" ({evidence.text})"
    elif evidence.ci95_pct is not None:
        noun = "blocks" if evidence.pairing == "paired" else "runs per arm, unpaired"
        text += f" (95 % {span(evidence.ci95_pct)} %, {evidence.n} {noun})"
    else:
        text += f" ({evidence.text})"
    looked = [look_text(verdict)] if verdict.looks else []
    return " · ".join([*parts, text, *looked])


def _stats_json(stats: ArmStats | None) -> Json | None:
    if stats is None:
        return None
    return {
        "n": stats.n,
        "mean": stats.mean,
        "median": stats.median,
        "sd": stats.sd,
        "cv_pct": stats.cv_pct,
        "min": stats.low,
        "max": stats.high,
    }


def _rule_json(rule: Rule | None, reason: str) -> Json:
    if rule is None:
        return {"verdict": None, "missing": {"verdict": reason}}
    return {
        "verdict": rule.verdict,
        "mean_delta_pct": rule.mean_delta_pct,
        "median_delta_pct": rule.median_delta_pct,
        "threshold_pct": rule.threshold_pct,
    }


def comparison_json(item: Comparison, baseline: str) -> Json:
    """One entry of `cells` in verdict.json."""
    return {
        "cell": item.cell.name,
        "workload": item.cell.workload,
        "treatment": item.treatment.name,
        "role": item.role,
        "rule": _rule_json(item.rule, item.evidence.text),
        "evidence": item.evidence.to_json(),
        "arms": {
            baseline: _stats_json(item.baseline_stats),
            item.treatment.name: _stats_json(item.treatment_stats),
        },
        "references": {reference.arm: reference.to_json() for reference in item.references},
        "invalid_reasons": list(item.invalid_reasons),
    }


def verdict_json(verdict: Verdict, baseline: str, box: Any = None, values: Any = None) -> Json:
    """The content of verdict.json (docs/design/files.md)."""
    cells = [comparison_json(item, baseline) for item in verdict.comparisons]
    first = cells[0]
    return {
        "format": FORMAT,
        "phase": verdict.phase,
        "run": verdict.run,
        "title": verdict.title,
        "decision": verdict.decision.text,
        "qualifier": verdict.qualifier,
        "headline": headline(verdict),
        "exit_code": verdict.exit_code,
        "aa": verdict.is_aa,
        "box": box,
        "values": list(values) if values is not None else None,
        "metric": verdict.unit.metric,
        "rule": first["rule"],
        "evidence": first["evidence"],
        "sequential": sequential_json(verdict),
        "arms": first["arms"],
        "cells": cells,
        "guards": [guard.to_json() for guard in verdict.guards],
        "references": first["references"],
        "forecast": verdict.forecast.to_json(),
        "void_blocks": list(verdict.void),
        "invalid_reasons": first["invalid_reasons"],
        "warnings": list(verdict.warnings),
    }
