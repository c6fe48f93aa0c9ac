"""Plots of a sweep: a heat map of ratios, geometric means, throughput against memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from .style import BASELINE, INK, MUTED, REFERENCES, TREATMENT, styled

STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)  # of ticks where less than a decade is shown
FULL_COLOUR = 100.0  # % apart at which the colour saturates


@dataclass(frozen=True)
class Point:
    """A library: throughput and peak RSS as multiples of the reference; and of single cells."""

    name: str
    is_ours: bool
    throughput: float
    memory: float
    cells: list[tuple[float, float]]


def heat_map(
    rows: list[str], columns: list[str], percents: list[list[float | None]], ours: str
) -> Figure:
    """A row a cell, a column a library: ours in % of it. Green: ours is faster."""
    with styled():
        figure = Figure(figsize=(2.6 + 1.15 * len(columns), 1.3 + 0.33 * len(rows)))
        axes = figure.add_subplot()
        values = np.array([[np.nan if x is None else x for x in row] for row in percents])
        colours = 100.0 * np.log(values.reshape(len(rows), len(columns)) / 100.0)
        axes.imshow(colours, cmap="PiYG", vmin=-FULL_COLOUR, vmax=FULL_COLOUR, aspect="auto")
        for y, row in enumerate(percents):
            for x, value in enumerate(row):
                text = "–" if value is None else _percent(value)
                is_dark = value is not None and abs(np.log(value / 100.0)) > 0.75
                axes.text(
                    x,
                    y,
                    text,
                    ha="center",
                    va="center",
                    color="white" if is_dark else INK,
                )
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_title(f"Throughput of {ours} in % of each library")
    return figure


def _percent(value: float) -> str:
    return f"{value:.0f} %" if value < 1000.0 else f"{value / 100.0:.0f} ×"


def means_plot(rows: list[tuple[str, float, float | None, float | None]], ours: str) -> Figure:
    """Geometric means with their intervals, as multiples of each library."""
    with styled():
        figure = Figure(figsize=(8.4, 1.2 + 0.45 * len(rows)))
        axes = figure.add_subplot()
        for y, (_, value, low, high) in enumerate(rows):
            if low is not None and high is not None:
                axes.plot([low, high], [y, y], color=TREATMENT, linewidth=2.2)
            axes.scatter([value], [y], color=TREATMENT, s=42, zorder=3)
            axes.annotate(
                f"{value:.3f} ×",
                xy=(1.02, y),
                xycoords=("axes fraction", "data"),
                va="center",
                annotation_clip=False,
            )
        axes.axvline(1.0, color=MUTED, linewidth=1.0)
        axes.set_yticks(range(len(rows)), [row[0] for row in rows])
        axes.invert_yaxis()
        axes.margins(y=0.25)
        axes.set_xlabel("geometric mean over the cells (× the library), 95 % interval")
        axes.set_title(f"Throughput of {ours}: right of 1 it is faster")
        axes.grid(axis="y", visible=False)
    return figure


def trade_plot(points: list[Point], reference: str) -> Figure:
    """Throughput against memory: up is faster, left is smaller. Small dots are single cells."""
    with styled():
        figure = Figure(figsize=(7.2, 5.2))
        axes = figure.add_subplot()
        spare = iter((BASELINE, *REFERENCES * 8))
        for point in points:
            colour = TREATMENT if point.is_ours else next(spare)
            if point.cells:
                x, y = zip(*((memory, speed) for speed, memory in point.cells))
                axes.scatter(x, y, s=12, color=colour, alpha=0.3, linewidth=0)
            axes.scatter([point.memory], [point.throughput], s=90, color=colour, zorder=3)
            axes.annotate(
                point.name,
                xy=(point.memory, point.throughput),
                xytext=(8, 5),
                textcoords="offset points",
                color=colour,
                fontweight="bold",
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            low, high = axis.get_view_interval()
            is_wide = high > 8 * low
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if is_wide else STEPS, numticks=12))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter("{x:g} ×")
        ours = next((point.name for point in points if point.cells), None)
        if ours is not None:
            label = f"single cells of {ours}"
            axes.plot([], [], "o", markersize=4, color=TREATMENT, alpha=0.3, label=label)
            axes.legend(frameon=False, loc="lower right")
        axes.set_xlabel(f"peak RSS (× {reference}, geometric mean)")
        axes.set_ylabel(f"throughput (× {reference}, geometric mean)")
        axes.set_title("Throughput against memory: up and left is better")
    return figure
