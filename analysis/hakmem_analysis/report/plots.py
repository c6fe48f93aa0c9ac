"""The plots of one comparison: runs in order, distributions, interval against the neutral band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..evidence import Evidence
from ..stats import intervals
from ..units import Unit, signed, span
from .style import BAND, BASELINE, GRID, INK, MUTED, REFERENCES, TREATMENT, styled, word_colour

Array = NDArray[np.float64]
FORECAST = "#8e6c9e"


@dataclass(frozen=True)
class Series:
    """Values of one arm in the order of measuring; `order` is the position on the axis of runs
    (block + slot), or the index where no order was recorded. `role` picks the colour."""

    name: str
    role: str
    order: Array
    values: Array


def colours(series: list[Series]) -> list[str]:
    """A colour for each series: fixed for baseline and treatment, a list for references."""
    spare = iter(REFERENCES * 8)
    fixed = {"baseline": BASELINE, "treatment": TREATMENT}
    return [fixed.get(item.role) or next(spare) for item in series]


def runs_plot(series: list[Series], unit: Unit, is_ordered: bool) -> Figure:
    """Each run in the order in which it was made, with each arm's median as a line."""
    with styled():
        figure = Figure(figsize=(8.4, 3.9))
        axes = figure.add_subplot()
        for item, colour in zip(series, colours(series)):
            values = item.values * unit.scale
            axes.plot(item.order, values, color=colour, linewidth=1.0, alpha=0.35, zorder=2)
            axes.scatter(
                item.order, values, s=34, color=colour, edgecolor="white", linewidth=0.8, zorder=3
            )
            axes.axhline(np.median(values), color=colour, linewidth=1.1, linestyle=(0, (5, 3)))
        _end_labels(axes, series, unit)
        axes.set_title("Runs in order" if is_ordered else "Runs as listed (order not recorded)")
        axes.set_xlabel("block" if is_ordered else "position in the list")
        axes.set_ylabel(f"{unit.label} ({unit.name})" if unit.name else unit.label)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(axis="x", visible=False)
        axes.margins(x=0.03, y=0.10)
    return figure


def _end_labels(axes: Any, series: list[Series], unit: Unit) -> None:
    """Names at the right end of each median line, pushed apart where they would overlap."""
    low, high = axes.get_ylim()
    medians = [float(np.median(item.values)) * unit.scale for item in series]
    heights = _spread(medians, (high - low) * 0.125)
    for item, median, height, tint in zip(series, medians, heights, colours(series)):
        axes.annotate(
            f"{item.name}\nmedian {unit.show(median / unit.scale)}",
            xy=(1.01, height),
            xycoords=("axes fraction", "data"),
            color=tint,
            fontsize=9,
            va="center",
            annotation_clip=False,
        )


def _spread(wanted: list[float], step: float) -> list[float]:
    """Heights near `wanted`, at least `step` apart: neighbours push each other away in turns."""
    placed = list(wanted)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    for _ in range(60):
        for lower, upper in zip(order, order[1:]):
            overlap = step - (placed[upper] - placed[lower])
            if overlap > 0.0:
                placed[lower] -= overlap / 2.0
                placed[upper] += overlap / 2.0
    return placed


def distribution_plot(series: list[Series], unit: Unit) -> Figure:
    """Every run as a dot, the middle half as a bar, the median as a tick, the mean with its 95 %
    interval below."""
    with styled():
        figure = Figure(figsize=(8.4, 0.95 + 0.85 * len(series)))
        axes = figure.add_subplot()
        for row, (item, colour) in enumerate(zip(series, colours(series))):
            _distribution_row(axes, row, item.values * unit.scale, colour)
        axes.set_yticks(range(len(series)))
        axes.set_yticklabels([f"{item.name}\n{len(item.values)} runs" for item in series])
        axes.set_ylim(len(series) - 0.4, -0.6)
        axes.set_title("Distribution of the runs")
        axes.set_xlabel(
            (f"{unit.label} ({unit.name})" if unit.name else unit.label)
            + "   ·   dot: a run, bar: middle half, tick: median, diamond: mean with 95 % interval"
        )
        axes.xaxis.label.set_fontsize(9)
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    return figure


def _distribution_row(axes: Any, row: int, values: Array, colour: str) -> None:
    quarter, median, three = np.percentile(values, [25, 50, 75])
    axes.plot([quarter, three], [row, row], color=colour, linewidth=13, alpha=0.22, zorder=1)
    axes.plot([median, median], [row - 0.17, row + 0.17], color=colour, linewidth=2.2, zorder=2)
    offsets = 0.11 * np.cos(np.arange(len(values)) * 2.4)
    axes.scatter(
        values, row + offsets, s=26, color=colour, edgecolor="white", linewidth=0.6, zorder=3
    )
    if len(values) > 1:
        low, high = intervals.t_interval(intervals.paired(values), 0.05)
        axes.plot([low, high], [row + 0.32, row + 0.32], color=INK, linewidth=1.2, zorder=2)
    axes.plot(values.mean(), row + 0.32, marker="D", markersize=5, color=INK, zorder=3)


def interval_plot(
    evidence: Evidence,
    word: str,
    threshold_pct: float,
    differences_pct: Array,
    forecast: tuple[float, float] | None,
) -> Figure:
    """The estimate with its 95 % and 90 % intervals against the neutral band; below it the rank
    check, the forecast, and each block's own difference."""
    rows = ["t interval", "rank check"]
    rows += ["forecast"] if forecast else []
    rows += ["single blocks"] if len(differences_pct) else []
    with styled():
        figure = Figure(figsize=(8.4, 1.35 + 0.46 * len(rows)))
        axes = figure.add_subplot()
        axes.axvspan(-threshold_pct, threshold_pct, color=BAND, zorder=0, linewidth=0)
        axes.axvline(0.0, color=MUTED, linewidth=1.0, zorder=1)
        colour = word_colour(word)
        _bar(axes, 0, evidence.delta_pct, evidence.ci95_pct, evidence.ci90_pct, colour)
        _bar(axes, 1, evidence.hl_pct, evidence.hl_ci95_pct, None, MUTED)
        if len(differences_pct):
            row = rows.index("single blocks")
            heights = row + 0.12 * np.cos(np.arange(len(differences_pct)) * 2.4)
            axes.scatter(differences_pct, heights, s=16, color=TREATMENT, alpha=0.75, linewidth=0)
        axes.set_yticks(range(len(rows)))
        axes.set_yticklabels(rows)
        axes.set_ylim(len(rows) - 0.4, -0.75)
        _include(axes, threshold_pct)
        if forecast:
            _forecast_bar(axes, rows.index("forecast"), forecast)
        delta = f"{signed(evidence.delta_pct)} % (95 % {span(evidence.ci95_pct)} %)"
        axes.set_title(f"{word}: {delta}", color=colour)
        axes.set_xlabel(
            f"change in %, right is better   ·   thick: 90 %, thin: 95 %   ·   "
            f"shaded: ±{threshold_pct:g} % neutral band"
        )
        axes.xaxis.label.set_fontsize(9)
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    return figure


def _forecast_bar(axes: Any, row: int, forecast: tuple[float, float]) -> None:
    """The forecast range; one far away may widen the view to twice its width, beyond that it is an
    arrow at the edge, so that the measurement stays readable."""
    low, high = axes.get_xlim()
    width = high - low
    ends = (max(forecast[0], low - width / 2.0), min(forecast[1], high + width / 2.0))
    is_in_view = ends[0] < ends[1]
    if is_in_view:
        axes.plot(ends, [row, row], color=FORECAST, linewidth=7, alpha=0.55, zorder=2)
        axes.set_xlim(min(low, ends[0] - width * 0.03), max(high, ends[1] + width * 0.03))
    if ends != forecast:
        is_right = forecast[1] > ends[1]
        axes.annotate(
            f"{span(forecast, 1)} % →" if is_right else f"← {span(forecast, 1)} %",
            xy=(0.99 if is_right else 0.01, row + (0.32 if is_in_view else 0.0)),
            xycoords=("axes fraction", "data"),
            ha="right" if is_right else "left",
            va="center",
            fontsize=9,
            color=FORECAST,
        )


def _bar(
    axes: Any,
    row: int,
    centre: float | None,
    outer: tuple[float, float] | None,
    inner: tuple[float, float] | None,
    colour: str,
) -> None:
    if outer is not None:
        axes.plot(outer, [row, row], color=colour, linewidth=2.0, solid_capstyle="butt", zorder=3)
        for end in outer:
            axes.plot([end, end], [row - 0.13, row + 0.13], color=colour, linewidth=2.0, zorder=3)
    if inner is not None:
        axes.plot(inner, [row, row], color=colour, linewidth=7.0, solid_capstyle="butt", zorder=3)
    if centre is not None:
        axes.scatter(
            [centre], [row], s=62, color="white", edgecolor=colour, linewidth=2.2, zorder=4
        )


def _include(axes: Any, threshold_pct: float) -> None:
    """Keeps the whole neutral band and zero in view."""
    low, high = axes.get_xlim()
    margin = 1.25 * threshold_pct
    axes.set_xlim(min(low, -margin), max(high, margin))


@dataclass(frozen=True)
class ForestRow:
    """One comparison of the forest plot."""

    label: str
    word: str
    n: int
    delta_pct: float | None
    ci95_pct: tuple[float, float] | None
    is_primary: bool


def forest_plot(rows: list[ForestRow], threshold_pct: float) -> Figure:
    """One line a comparison, coloured by verdict, with the figures in a column at the right."""
    with styled():
        figure = Figure(figsize=(8.4, 1.25 + 0.36 * len(rows)))
        axes = figure.add_subplot()
        axes.axvspan(-threshold_pct, threshold_pct, color=BAND, zorder=0, linewidth=0)
        axes.axvline(0.0, color=MUTED, linewidth=1.0, zorder=1)
        for index, row in enumerate(rows):
            _forest_row(axes, index, row)
        axes.set_yticks(range(len(rows)))
        labels = axes.set_yticklabels([row.label for row in rows])
        for label, row in zip(labels, rows):
            label.set_fontweight("bold" if row.is_primary else "normal")
        axes.set_ylim(len(rows) - 0.4, -0.7)
        _include(axes, threshold_pct)
        axes.set_title("All comparisons (bold: the one that decides)")
        axes.set_xlabel(
            f"change in % with 95 % interval, right is better   ·   shaded: ±{threshold_pct:g} %"
        )
        axes.xaxis.label.set_fontsize(9)
        axes.grid(axis="y", visible=False)
        axes.hlines(
            np.arange(len(rows) - 1) + 0.5,
            0,
            1,
            GRID,
            linewidth=0.6,
            transform=axes.get_yaxis_transform(),
            zorder=0,
        )
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
    return figure


def _forest_row(axes: Any, index: int, row: ForestRow) -> None:
    colour = word_colour(row.word)
    _bar(axes, index, row.delta_pct, row.ci95_pct, None, colour)
    figures = f"{signed(row.delta_pct)} %  [{span(row.ci95_pct)}]" if row.ci95_pct else "–"
    for place, text, weight in ((1.02, row.word, "bold"), (1.185, figures, "normal")):
        axes.annotate(
            text,
            xy=(place, index),
            xycoords=("axes fraction", "data"),
            color=colour,
            fontsize=9,
            fontweight=weight,
            va="center",
            annotation_clip=False,
        )
