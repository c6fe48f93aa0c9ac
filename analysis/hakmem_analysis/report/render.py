"""report.md, verdict.json and plots of a result folder or of raw data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..blocks import Selection, log_differences, select, table
from ..counters import counter_table
from ..files import Json, dump_json, write_text
from ..load import Run
from ..plan import Forecast
from ..rawdata import RawData, judge_raw
from ..units import plain
from ..verdict import Verdict, look_text, verdict_json
from . import extras, primary, tables
from .builds import builds
from .environment import environment
from .factorial import factorial, square_of
from .last_sweep import last_sweep
from .latency import latency
from .plots import ForestRow, Series, distribution_plot, forest_plot, interval_plot, runs_plot
from .style import save

FAR_ARM = 0.10  # arms whose median differs by more stand in the table only
FOOTER = "Made by `hak report` from the files in this folder; made again at any time."


@dataclass(frozen=True)
class Report:
    """text: report.md; record: verdict.json; figures: plots by file name."""

    verdict: Verdict
    text: str
    record: Json
    figures: dict[str, Figure]

    def write(self, folder: Path) -> None:
        """Writes report.md, verdict.json and plots/*.svg into `folder`. AnalysisError where it may
        not; every file is replaced in one step."""
        for name, figure in self.figures.items():
            save(figure, folder / "plots" / name)
        write_text(folder / "verdict.json", dump_json(self.record))
        write_text(folder / "report.md", self.text)


def render(context: Json) -> str:
    """The report of one experiment."""
    return fill("report.md.j2", context)


def fill(template: str, context: Json) -> str:
    """The template filled in; a name that the template misses is an error, not a blank."""
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment_ = jinja2.Environment(
        loader=loader,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
    )
    text: str = environment_.get_template(template).render(context)
    lines = [line.rstrip() for line in text.splitlines()]
    kept = [line for i, line in enumerate(lines) if line or (i and lines[i - 1])]
    return "\n".join(kept).strip() + "\n"


def build_run_report(run: Run, verdict: Verdict) -> Report:
    """The report of a judged run."""
    selection = select(run)
    item, plan = verdict.primary, run.plan
    titles = [tables.arm_title(plan.baseline, plan.box), tables.arm_title(item.treatment, plan.box)]
    figures = _run_figures(run, selection, verdict)
    default = extras.default_of(run)
    square = square_of(run, selection)
    context = _common(verdict, titles, plan.hypothesis, plan.forecast, figures)
    values = (item.pair.first, item.pair.second)
    stats = (item.baseline_stats, item.treatment_stats)
    context["primary"].update(
        intro=_intro(run, verdict),
        order=", in block order",
        names=[plan.baseline.name, item.treatment.name],
        arms=[
            primary.arm_block(t, s, v.tolist(), verdict.unit)
            for t, s, v in zip(titles, stats, values)
        ],
    )
    arm_names = (plan.baseline.name, item.treatment.name)
    context.update(
        header=_run_header(run, verdict),
        notices=[str(notice) for notice in _notices(run, verdict)],
        references=tables.references(verdict, run, selection),
        builds=builds(verdict, run),
        factorial=factorial(square),
        proof=tables.proof(verdict, run),
        mechanism=extras.mechanism(run.path),
        counters=counter_table(_primary_samples(selection, item.cell.name), arm_names),
        latency=latency(plan, selection),
        compliance=extras.compliance(run.path, verdict),
        decision=extras.decision(verdict, plan.box, plan.values, default),
        steps=extras.next_steps(verdict, ""),
        notes=extras.notes(run.path),
        raw=tables.raw_data(verdict, run, selection),
        environment=environment(run),
    )
    record = verdict_json(verdict, plan.baseline.name, plan.box, plan.values)
    if square is not None:
        record["factorial"] = square.to_json()
    return Report(verdict, render(context), record, figures)


def _primary_samples(selection: Selection, cell: str) -> pd.DataFrame:
    return selection.valid[selection.valid["cell"] == cell]


def _common(
    verdict: Verdict,
    titles: list[str],
    hypothesis: str,
    forecast: Forecast | None,
    figures: dict[str, Figure],
) -> Json:
    """What reports of runs and of raw data share."""
    item = verdict.primary
    plots = {key: f"plots/{key}.svg" for key in ("runs", "distribution", "interval", "forest")}
    title = f"Phase {verdict.phase}: {verdict.title}" if verdict.title else f"Phase {verdict.phase}"
    return {
        "title": title,
        "summary": primary.summary(verdict, titles, hypothesis),
        "forecast": primary.forecast_text(verdict, forecast),
        "plots": {k: v if f"{k}.svg" in figures else None for k, v in plots.items()},
        "primary": {
            "cell": item.cell.name,
            "comparison": primary.comparison_rows(item, verdict.unit),
            "reason": item.evidence.text,
            "rule_line": _rule_line(verdict),
        },
        "evidence": primary.evidence_rows(item),
        "matrix": tables.matrix(verdict),
        "guards": tables.guards(verdict),
        "counters": None,
        "latency": [],
        "warnings": list(verdict.warnings),
        "footer": FOOTER,
    }


def _rule_line(verdict: Verdict) -> str:
    item = verdict.primary
    if item.rule is None:
        return f"±1 % rule: not computed ({item.evidence.text}) · evidence: {verdict.decision_text}"
    return (
        f"±{item.rule.threshold_pct:g} % rule: **{item.rule.verdict}** · "
        f"evidence: **{verdict.decision_text}**"
    )


def _run_header(run: Run, verdict: Verdict) -> list[tuple[str, str]]:
    item, plan = verdict.primary, run.plan
    started = str(run.manifest.get("started") or "not recorded")
    rows = [
        ("Verdict", f"**{verdict.decision_text}**: {item.evidence.text}"),
        ("±%g %% rule" % plan.threshold_pct, primary.rule_text(item)),
        ("Evidence", f"{item.word.text}: {primary.delta_text(item.evidence)}"),
        ("Baseline", primary.reference_text(item)),
        ("Last sweep", last_sweep(run.path.resolve().parent.parent)),
    ]
    if plan.box is not None and plan.values is not None:
        rows.append(
            (
                "Box",
                f"`{plan.box}`: {plan.values[0]} (baseline) against {plan.values[1]} (treatment)",
            )
        )
    else:
        names = [f"{plan.baseline.name} (baseline)", f"{item.treatment.name} (treatment)"]
        rows.append(("Arms", " against ".join(names)))
    rows.append(("Date", f"{started.replace('T', ' ').replace('Z', ' UTC')}, run {plan.run}"))
    mode = "slices inside one process" if plan.mode == "slices" else "one process a run"
    rows.append(("Mode", mode))
    if plan.looks:
        declared = "/".join(str(look) for look in plan.looks)
        rows.append(
            (
                "Sequential",
                f"looks declared at {declared} blocks (`--until-decided`); ended at "
                f"{look_text(verdict)}",
            )
        )
    return rows


def _notices(run: Run, verdict: Verdict) -> list[str]:
    notices = [str(text) for text in run.manifest.get("notices") or []]
    if verdict.is_aa and not any(text.startswith("A/A") for text in notices):
        notices.insert(0, "A/A: both arms have the same library and the same effective boxes")
    return notices


def _intro(run: Run, verdict: Verdict) -> str:
    item, plan = verdict.primary, run.plan
    params = ", ".join(f"{key} {value}" for key, value in item.cell.params.items())
    text = f"Workload `{item.cell.workload}`" + (f" ({params})" if params else "")
    total = run.samples[run.samples["cell"] == item.cell.name]
    ok = int((total["status"] == "ok").sum())
    text += f"; {ok} of {len(total)} runs ended ok; "
    n = len(item.pair.first)
    return text + (
        f"{n} processes." if plan.mode == "slices" else f"{n} valid blocks in random order of arms."
    )


def _series(run: Run, selection: Selection, verdict: Verdict) -> list[Series]:
    """Values of every arm of the deciding cell with their place in the order of measuring."""
    item, plan = verdict.primary, run.plan
    if plan.mode == "slices":
        axis = item.pair.blocks.astype(float)
        return [
            Series(plan.baseline.name, "baseline", axis, item.pair.first),
            Series(item.treatment.name, "treatment", axis, item.pair.second),
        ]
    rows = selection.valid[selection.valid["cell"] == item.cell.name].sort_values(["block", "slot"])
    if plan.metric not in rows.columns or rows.empty:
        return []
    slots = float(rows["slot"].max()) + 1.0
    found = []
    for arm in plan.arms:
        part = rows[(rows["arm"] == arm.name) & rows[plan.metric].notna()]
        if len(part):
            order = part["block"].to_numpy(dtype=float) + part["slot"].to_numpy(dtype=float) / slots
            role = "treatment" if arm is item.treatment else arm.role
            role = "reference" if role == "treatment" and arm is not item.treatment else role
            found.append(Series(arm.name, role, order, part[plan.metric].to_numpy(dtype=float)))
    return found


def _run_figures(run: Run, selection: Selection, verdict: Verdict) -> dict[str, Figure]:
    item, plan = verdict.primary, run.plan
    figures: dict[str, Figure] = {}
    series = _series(run, selection, verdict)
    if series:
        tested = [one for one in series if one.role in ("baseline", "treatment")]
        figures["runs.svg"] = runs_plot(tested or series, verdict.unit, True)
        figures["distribution.svg"] = distribution_plot(_near(series), verdict.unit)
    if item.evidence.delta_pct is not None:
        singles = 100.0 * np.expm1(log_differences(item.pair, plan.sign))
        forecast = (plan.forecast.low, plan.forecast.high) if plan.forecast else None
        figures["interval.svg"] = interval_plot(
            item.evidence, verdict.decision_text, plan.threshold_pct, singles, forecast
        )
    if len(verdict.comparisons) > 1:
        figures["forest.svg"] = _forest(verdict, plan.threshold_pct)
    return figures


def _near(series: list[Series]) -> list[Series]:
    """Without arms so far from the first that the others would shrink to a point."""
    centre = float(np.median(series[0].values))
    return [
        item
        for item in series
        if item.role in ("baseline", "treatment")
        or abs(float(np.median(item.values)) / centre - 1.0) <= FAR_ARM
    ]


def _forest(verdict: Verdict, threshold_pct: float) -> Figure:
    several = len({item.treatment.name for item in verdict.comparisons}) > 1
    rows = [
        ForestRow(
            f"{item.cell.name} · {item.treatment.name}" if several else item.cell.name,
            item.word.text,
            item.evidence.n,
            item.evidence.delta_pct,
            item.evidence.ci95_pct,
            item.role == "primary",
        )
        for item in verdict.comparisons
    ]
    return forest_plot(rows, threshold_pct)


def report_of_raw(data: RawData, has_plots: bool = True) -> Report:
    """The report of raw data: no blocks, so unpaired, and no proof of execution. Without plots where
    the text goes to a terminal only."""
    verdict, _ = judge_raw(data)
    item = verdict.primary
    figures = _raw_figures(data, verdict) if has_plots else {}
    names = [data.baseline_name, data.treatment_name]
    titles = [f"{name} ({data.box}={i})" if data.box else name for i, name in enumerate(names)]
    context = _common(verdict, titles, "", data.forecast, figures)
    stats = zip(
        titles, (item.baseline_stats, item.treatment_stats), (data.baseline, data.treatment)
    )
    context["primary"].update(
        intro=f"Raw data: {data.source}. {data.note}".strip(),
        order=", as listed",
        names=names,
        arms=[primary.arm_block(t, s, v.tolist(), verdict.unit) for t, s, v in stats],
    )
    context.update(_raw_sections(data, verdict, names))
    record = verdict_json(verdict, data.baseline_name, data.box, None)
    record["source"] = data.source
    return Report(verdict, render(context), record, figures)


def _raw_figures(data: RawData, verdict: Verdict) -> dict[str, Figure]:
    series = [
        Series(data.baseline_name, "baseline", np.arange(len(data.baseline)) + 1.0, data.baseline),
        Series(
            data.treatment_name, "treatment", np.arange(len(data.treatment)) + 1.0, data.treatment
        ),
    ]
    forecast = (data.forecast.low, data.forecast.high) if data.forecast else None
    figures = {
        "runs.svg": runs_plot(series, verdict.unit, False),
        "distribution.svg": distribution_plot(series, verdict.unit),
    }
    if verdict.primary.evidence.delta_pct is not None:
        figures["interval.svg"] = interval_plot(
            verdict.primary.evidence,
            verdict.decision_text,
            data.threshold_pct,
            np.empty(0),
            forecast,
        )
    return figures


def _raw_sections(data: RawData, verdict: Verdict, names: list[str]) -> dict[str, Any]:
    item = verdict.primary
    unknown = "Not known: raw data carry no record of it."
    length = max(len(data.baseline), len(data.treatment))
    lists = [[plain(float(x), 6) for x in values] for values in (data.baseline, data.treatment)]
    padded = [values + ["–"] * (length - len(values)) for values in lists]
    rows = [[str(i + 1), *pair] for i, pair in enumerate(zip(*padded))]
    header = [
        ("Verdict", f"**{verdict.decision_text}**: {item.evidence.text}"),
        ("±%g %% rule" % data.threshold_pct, primary.rule_text(item)),
        ("Evidence", f"{item.word.text}: {primary.delta_text(item.evidence)}"),
        ("Source", data.source),
    ]
    if data.box:
        header.append(("Box", f"`{data.box}`: 0 (baseline) against 1 (treatment)"))
    steps = extras.next_steps(verdict, "")
    return {
        "header": header,
        "notices": [
            "Unpaired: no record says which runs belong together, so drift is not cancelled"
        ],
        "references": None,
        "builds": None,
        "factorial": None,
        "proof": {"intro": unknown, "rows": [], "problems": []},
        "mechanism": {"intro": unknown, "rows": []},
        "compliance": extras.compliance(None, verdict),
        "decision": extras.decision(verdict, data.box, (0, 1) if data.box else None, None),
        "steps": steps,
        "notes": "",
        "raw": {
            "intro": f"In {data.unit or data.metric}; runs of equal number are not pairs.",
            "columns": ["Run", *names],
            "rows": rows,
            "voids": [],
        },
        "environment": {"intro": unknown, "rows": [], "doctor": []},
    }
