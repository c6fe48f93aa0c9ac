"""The plot of a layout report: each link's mean, and the effect over all links."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ..layout import Comparison, LayoutReport
from ..units import signed, span
from .style import BAND, BASELINE, MUTED, TREATMENT, styled, word_colour


def layouts_plot(report: LayoutReport) -> Figure:
    """Blocks as small dots, their layout's mean as a large one; below, the estimate with its 95 %
    interval."""
    parts = [(report.effect, TREATMENT)] + ([(report.tax, BASELINE)] if report.tax else [])
    rows = sum(len(part.layouts) + 2 for part, _ in parts)
    with styled():
        figure = Figure(figsize=(8.4, 1.4 + 0.24 * rows))
        axes = figure.add_subplot()
        axes.axvspan(-1.0, 1.0, color=BAND, zorder=0, linewidth=0)
        axes.axvline(0.0, color=MUTED, linewidth=1.0, zorder=1)
        labels: list[tuple[int, str]] = []
        row = 0
        for part, colour in parts:
            row = _part(axes, part, colour, row, labels)
        axes.set_yticks([at for at, _ in labels], [text for _, text in labels])
        axes.set_ylim(row - 0.5, -1.0)
        found = report.effect
        word = found.effect.word.text
        text = f"{word}: {signed(found.delta_pct)} % (95 % {span(found.ci95_pct)} %)"
        axes.set_title(text, color=word_colour(word))
        axes.set_xlabel("change in %, right is better   ·   shaded: ±1 %")
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
    return figure


def _part(axes: Any, part: Comparison, colour: str, row: int, labels: list[tuple[int, str]]) -> int:
    """Draws one comparison from `row` on; gives the row behind it."""
    low, high = part.ci95_pct
    axes.plot([low, high], [row, row], color=colour, linewidth=2.5, solid_capstyle="butt")
    axes.scatter([part.delta_pct], [row], s=70, color=colour, marker="D", zorder=3)
    labels.append((row, f"{part.second} against {part.first}"))
    for i, differences in enumerate(part.layouts, 1):
        at = np.full(len(differences), row + i)
        axes.scatter(100.0 * np.expm1(differences), at, s=12, color=colour, alpha=0.4, linewidth=0)
        mean = 100.0 * np.expm1(differences.mean())
        axes.scatter([mean], [row + i], s=38, color=colour, edgecolor="white", zorder=3)
        labels.append((row + i, f"layout {i}"))
    return row + len(part.layouts) + 2
