"""Header, summary, A/B results, statistics and evidence of the deciding comparison."""

from __future__ import annotations

from typing import Any, Sequence

from ..comparison import Comparison
from ..evidence import Evidence
from ..plan import Forecast
from ..stats.decide import Word
from ..stats.describe import ArmStats
from ..units import Unit, count, plain, signed, span
from ..verdict import Verdict

Json = dict[str, Any]


def blocks_text(evidence: Evidence) -> str:
    """ "10 blocks", or "10 runs per arm, unpaired"."""
    if evidence.pairing == "paired":
        return count(evidence.n, "block")
    return count(evidence.n, "run") + " per arm, unpaired"


def delta_text(evidence: Evidence) -> str:
    """ "−0.71 % (95 % −2.50…+1.12 %, 10 blocks)"."""
    if evidence.delta_pct is None:
        return evidence.text
    if evidence.ci95_pct is None:
        return f"{signed(evidence.delta_pct)} % ({evidence.text}, {blocks_text(evidence)})"
    interval = f"95 % {span(evidence.ci95_pct)} %"
    return f"{signed(evidence.delta_pct)} % ({interval}, {blocks_text(evidence)})"


def rule_text(item: Comparison) -> str:
    """ "NEUTRAL (mean −0.71 %, median −1.05 %)"."""
    if item.rule is None:
        return "not computed: " + item.evidence.text
    rule = item.rule
    return (
        f"{rule.verdict} (mean {signed(rule.mean_delta_pct)} %, "
        f"median {signed(rule.median_delta_pct)} %)"
    )


def reference_text(item: Comparison) -> str:
    """The baseline as a percentage of each reference library, for the header."""
    parts = []
    for reference in item.references:
        if reference.library in ("lab", "standard"):
            continue  # our own library: the gate tax, not a peer
        if reference.baseline_pct is None or reference.baseline_ci95_pct is None:
            parts.append(f"% of {reference.library}: not available ({reference.reason})")
            continue
        low, high = reference.baseline_ci95_pct
        parts.append(
            f"{reference.baseline_pct:.1f} % of {reference.library} "
            f"(95 % {low:.1f}…{high:.1f} %, {count(reference.n, 'block')} of this session)"
        )
    return "; ".join(parts) or "not measured against another library in this run"


def _median_sentence(verdict: Verdict, names: Sequence[str]) -> str:
    item = verdict.primary
    base, test = item.baseline_stats, item.treatment_stats
    if base is None or test is None:
        return "Nothing that counts was measured."
    unit = verdict.unit
    return (
        f"Over {blocks_text(item.evidence).split(',')[0]} of `{item.cell.name}`, {names[1]} ran at "
        f"{unit.show(test.mean, True)} on average and {names[0]} at {unit.show(base.mean, True)}."
    )


def summary(verdict: Verdict, names: Sequence[str], hypothesis: str) -> str:
    """The executive summary: hypothesis, figures, the two words, what the run could have seen."""
    item = verdict.primary
    evidence = item.evidence
    parts = [f"Hypothesis: {hypothesis}\n\n"] if hypothesis else []
    parts.append(_median_sentence(verdict, names))
    if item.rule is not None:
        parts.append(
            f"±{item.rule.threshold_pct:g} % rule: {item.rule.verdict} "
            f"({signed(item.rule.mean_delta_pct)} %) · evidence: **{verdict.decision_text}**."
        )
    else:
        parts.append(f"Evidence: **{verdict.decision_text}**.")
    parts.append(f"Why: {evidence.text}.")
    if verdict.qualifier:
        parts.append(
            f"The comparison alone says {item.word.text}; the guards make it "
            f"{verdict.decision_text}."
        )
    if evidence.mde_pct is not None and verdict.decision is not Word.INVALID:
        parts.append(_seen(evidence.mde_pct))
    return " ".join(parts).replace("\n ", "\n")


def _seen(mde_pct: float) -> str:
    if mde_pct > 100.0:
        return "So few and so scattered blocks would often miss even a doubling."
    return (
        f"A true difference of {mde_pct:.2f} % would have been told from none in 4 of 5 such runs."
    )


def forecast_text(verdict: Verdict, forecast: Forecast | None) -> str:
    """One paragraph, or "" where no forecast was stated."""
    if forecast is None:
        return ""
    scored = verdict.forecast
    return (
        f"Forecast before the run: {span((forecast.low, forecast.high))} %. Measured: "
        f"{delta_text(verdict.primary.evidence)}. **{scored.outcome.capitalize()}**: {scored.text}."
    )


def arm_block(title: str, stats: ArmStats | None, values: Sequence[float], unit: Unit) -> Json:
    """Runs and statistics of one arm as text."""
    if stats is None:
        none = "not available: no valid run"
        return dict(title=title, unit=unit.name, runs="–", mean=none, median=none, sd=none, cv=none)
    single = "not available: a single run"
    return {
        "title": title,
        "unit": unit.name or unit.label,
        "runs": ", ".join(unit.show(value) for value in values),
        "mean": unit.show(stats.mean, True),
        "median": unit.show(stats.median, True),
        "sd": single if stats.sd is None else unit.show(stats.sd, True),
        "cv": single if stats.cv_pct is None else f"{stats.cv_pct:.2f} %",
    }


def comparison_rows(item: Comparison, unit: Unit) -> list[list[str]]:
    """Mean, Median, StdDev and CV of both arms with the change of each, as in the record."""
    base, test = item.baseline_stats, item.treatment_stats
    if base is None or test is None:
        return []
    rows = [
        _row("Mean", base.mean, test.mean, unit),
        _row("Median", base.median, test.median, unit),
    ]
    if base.sd is not None and test.sd is not None:
        rows.append(_row("StdDev", base.sd, test.sd, unit, 1))
    if base.cv_pct is not None and test.cv_pct is not None:
        points = f"{signed(test.cv_pct - base.cv_pct)} pp"
        rows.append(["CV", f"{base.cv_pct:.2f} %", f"{test.cv_pct:.2f} %", points])
    return rows


def _row(name: str, base: float, test: float, unit: Unit, digits: int = 2) -> list[str]:
    change = "–" if base == 0.0 else f"{signed(100.0 * (test / base - 1.0), digits)} %"
    return [
        f"{name} ({unit.name})" if unit.name else name,
        unit.show(base),
        unit.show(test),
        change,
    ]


def _reasoned(value: str | None, evidence: Evidence, key: str) -> str:
    return value if value is not None else f"not available: {evidence.missing.get(key, 'no value')}"


def evidence_rows(item: Comparison) -> list[tuple[str, str]]:
    """The table under "Evidence"."""
    e = item.evidence
    levels = e.levels
    how = (
        "paired by block: d = ln(treatment) − ln(baseline), Student's t"
        if e.pairing == "paired"
        else "unpaired: Welch's t on logs (no record of blocks)"
    )
    rows = [
        ("Verdict", f"**{e.verdict.text}**: {e.text}"),
        ("Pairing", f"{how}; {blocks_text(e)}"),
        ("Estimate", _reasoned(_pct(e.delta_pct), e, "delta_pct")),
        ("95 % interval", _reasoned(_span(e.ci95_pct), e, "ci95_pct")),
        ("90 % interval (NEUTRAL test)", _reasoned(_span(e.ci90_pct), e, "ci90_pct")),
    ]
    if levels.two_sided != 0.05:
        confidence = f"{100 * (1 - levels.two_sided):.2f} %"
        rows.append(
            (f"Deciding interval ({confidence})", _reasoned(_span(e.decision_ci_pct), e, ""))
        )
    if e.look is not None:
        rows.append(
            (
                "Sequential",
                f"judged at the look of {e.look} blocks with Pocock levels "
                f"{levels.two_sided:.4f} (two-sided) and {levels.one_sided:.4f} (NEUTRAL tests)",
            )
        )
    check = _reasoned(_pct(e.hl_pct), e, "hodges_lehmann_pct")
    if e.hl_ci95_pct is not None and e.hl_verdict is not None:
        check += f" (95 % {span(e.hl_ci95_pct)} %), alone it says {e.hl_verdict.text}"
    rows.append(("Hodges–Lehmann check", check))
    sd = None if e.sd_pct is None else f"{plain(e.sd_pct, 2)} %"
    rows.append(("Standard deviation of one block's difference", _reasoned(sd, e, "sd_pct")))
    mde = None if e.mde_pct is None else f"{plain(e.mde_pct, 2)} % (80 % power, {blocks_text(e)})"
    rows.append(("Minimum detectable effect", _reasoned(mde, e, "mde_pct")))
    rows.append(("Blocks of a fresh run", _needed(e)))
    return rows


def _needed(e: Evidence) -> str:
    if e.needed_neutral is None:
        return f"not available: {e.missing.get('needed_blocks', 'over a million')}"
    parts = []
    if e.needed_difference is not None and e.delta_pct is not None:
        parts.append(
            f"{e.needed_difference} to show a difference of {signed(e.delta_pct)} % (80 % power)"
        )
    parts.append(f"{e.needed_neutral} to show NEUTRAL if there is no effect (90 % power)")
    return "; ".join(parts)


def _pct(value: float | None) -> str | None:
    return None if value is None else f"{signed(value)} %"


def _span(pair: tuple[float, float] | None) -> str | None:
    return None if pair is None else f"{span(pair)} %"
