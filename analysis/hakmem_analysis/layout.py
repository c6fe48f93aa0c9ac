"""hak layout: the effect of a box over many links of the same objects (measurement.md section 6).

A layout folder holds layout.json, which lists the links, and one result folder a link. Each link has
three arms: `off` and `on`, the lab with the box at its two values, and `out`, libhakmem.so, which has
no research box. On against off is the effect; off against out is the gate with its layout tax.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .blocks import log_differences, pairs, select, table
from .errors import AnalysisError
from .files import Json, check_format, dump_json, read_json, write_text
from .load import load_run
from .stats.decide import Band, Word
from .stats.layout import LEAST_LAYOUTS, LayoutEffect, layout_effect
from .units import count, plain, signed, span

Array = NDArray[np.float64]
OUT, OFF, ON = "out", "off", "on"
FILE = "layout.json"


@dataclass(frozen=True)
class Comparison:
    """One pair of arms over all links: log differences by link, and what they say."""

    name: str
    first: str
    second: str
    layouts: tuple[Array, ...]
    effect: LayoutEffect

    @property
    def delta_pct(self) -> float:
        return _pct(self.effect.effect)

    @property
    def ci95_pct(self) -> tuple[float, float]:
        return _pct(self.effect.low), _pct(self.effect.high)

    def text(self) -> str:
        found = self.effect
        return (
            f"{signed(self.delta_pct)} % (95 % {span(self.ci95_pct)} %, "
            f"{count(found.layouts, 'layout')}, {count(found.blocks, 'block')})"
        )

    def record(self) -> Json:
        found = self.effect
        return {
            "first": self.first,
            "second": self.second,
            "verdict": found.word.text,
            "delta_pct": self.delta_pct,
            "ci95_pct": list(self.ci95_pct),
            "layouts": found.layouts,
            "blocks": found.blocks,
            "layout_sd_pct": 100.0 * found.layout_sd,
            "block_sd_pct": 100.0 * found.block_sd,
            "layout_share": found.share,
            "means_pct": [_pct(float(d.mean())) for d in self.layouts],
        }


@dataclass(frozen=True)
class LayoutReport:
    """A layout folder, analysed. `plan` is layout.json; `warnings` what a reader must know."""

    plan: Json
    effect: Comparison
    tax: Comparison | None
    warnings: tuple[str, ...]

    @property
    def is_enough(self) -> bool:
        """Whether a promotion may rest on it."""
        return self.effect.effect.is_enough

    def record(self) -> Json:
        """verdict of the folder: layout-verdict.json."""
        return {
            "format": 1,
            "box": self.plan["box"],
            "values": self.plan["values"],
            "decision": self.effect.effect.word.text,
            "enough_for_promotion": self.is_enough,
            "effect": self.effect.record(),
            "gate_and_layout_tax": self.tax.record() if self.tax else None,
            "warnings": list(self.warnings),
        }


def _pct(log: float) -> float:
    return float(100.0 * np.expm1(log))


def read_layout(folder: Path) -> LayoutReport:
    """Analyses a layout folder. AnalysisError where fewer than two links have two blocks each."""
    plan = read_json(folder / FILE)
    check_format(plan, str(folder / FILE))
    differences: dict[str, list[Array]] = {"effect": [], "tax": []}
    warnings: list[str] = []
    threshold = 1.0
    for link in plan["links"]:
        run = load_run(folder / str(link["run"]))
        threshold = run.plan.threshold_pct
        cell, metric = run.plan.primary.name, run.plan.metric
        values = table(select(run), cell, metric)
        for name, first, second in (("effect", OFF, ON), ("tax", OUT, OFF)):
            pair = pairs(values, first, second)
            if len(pair.first) >= 2:
                differences[name].append(log_differences(pair, run.plan.sign))
            else:
                warnings.append(f"link {link['number']}: too few blocks of {first} and {second}")
    band = Band.of(threshold)
    if len(differences["effect"]) < 2:
        raise AnalysisError(
            str(folder), "fewer than two links were measured", "run hak layout again"
        )
    tax = differences["tax"]
    return LayoutReport(
        plan=plan,
        effect=_comparison("Effect of the box", OFF, ON, differences["effect"], band),
        tax=_comparison("Gate and layout tax", OUT, OFF, tax, band) if len(tax) > 1 else None,
        warnings=tuple(warnings),
    )


def _comparison(name: str, first: str, second: str, layouts: list[Array], band: Band) -> Comparison:
    return Comparison(name, first, second, tuple(layouts), layout_effect(layouts, band))


def report_text(report: LayoutReport) -> str:
    """layout.md."""
    plan, effect = report.plan, report.effect
    found = effect.effect
    lines = [
        f"# Layout: {plan['box']}: {plan['values'][0]} against {plan['values'][1]}",
        "",
        "| | |",
        "|---|---|",
        f"| Verdict | **{found.word.text}** |",
        f"| Effect of the box | {effect.text()} |",
    ]
    if report.tax is not None:
        lines.append(f"| Gate and layout tax | {report.tax.text()} |")
    lines += [
        f"| Standard deviation of layout | {plain(100.0 * found.layout_sd, 2)} % |",
        f"| Standard deviation of a block | {plain(100.0 * found.block_sd, 2)} % |",
        f"| Share of variance that layout owns | {plain(100.0 * found.share, 0)} % |",
        f"| Workload | `{plan['cell']}` |",
        "",
        _meaning(report),
        "",
        "![Each layout's mean](plots/layouts.svg)",
        "",
        "## Layouts",
        "",
        "| Link | Seed | Longer path (bytes) | On against off | Off against out |",
        "|---:|---:|---:|---:|---:|",
    ]
    taxes = report.tax.layouts if report.tax is not None else ()
    for i, link in enumerate(plan["links"]):
        cells = [_mean(effect.layouts, i), _mean(taxes, i)]
        lines.append(
            f"| {link['number']} | {link['seed']} | {link['pad_bytes']} | {cells[0]} | {cells[1]} |"
        )
    lines += ["", *(f"- {warning}" for warning in report.warnings)]
    return "\n".join(lines).rstrip() + "\n"


def _mean(layouts: tuple[Array, ...], i: int) -> str:
    return f"{signed(_pct(float(layouts[i].mean())))} %" if i < len(layouts) else "–"


def _meaning(report: LayoutReport) -> str:
    found = report.effect.effect
    enough = (
        "These are layouts enough for a promotion."
        if report.is_enough
        else f"A promotion takes at least {LEAST_LAYOUTS} layouts."
    )
    single = np.sqrt(
        found.layout_sd**2 + found.block_sd**2 / max(found.blocks / found.layouts, 1)
    )
    return (
        "The layouts are the sample: blocks of one layout share whatever the linker did to them. "
        f"One layout alone would have shown this effect ± {plain(196.0 * float(single), 2)} %. "
        + enough
        + ("" if found.word is not Word.UNDECIDED else " More layouts narrow the interval.")
    )


def write_report(folder: Path) -> LayoutReport:
    """Writes layout-verdict.json, layout.md and plots/layouts.svg into the folder."""
    from .report.layout_plot import layouts_plot
    from .report.style import save

    report = read_layout(folder)
    save(layouts_plot(report), folder / "plots" / "layouts.svg")
    write_text(folder / "layout-verdict.json", dump_json(report.record()))
    write_text(folder / "layout.md", report_text(report))
    return report
