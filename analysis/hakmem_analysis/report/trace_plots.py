"""The plots of an allocation trace: sizes asked for, and lifetimes."""

from __future__ import annotations

from collections import Counter

from matplotlib.figure import Figure

from ..alloc_trace import TraceSummary
from .style import BASELINE, styled


def _label(key: int) -> str:
    """The highest value of a bar: 2^key - 1, in units of 1024 from there on."""
    for power, unit in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
        if key >= power:
            return f"<{2 ** (key - power)} {unit}"
    return f"<{2**key}"


def _histogram(counts: Counter[int], title: str, unit: str) -> Figure:
    with styled():
        figure = Figure(figsize=(8.4, 3.9))
        axes = figure.add_subplot()
        keys = range(min(counts, default=0), max(counts, default=0) + 1)
        total = max(sum(counts.values()), 1)
        axes.bar(list(keys), [100 * counts[key] / total for key in keys], color=BASELINE, width=0.8)
        axes.set_xticks(list(keys), [_label(key) for key in keys], rotation=45, ha="right")
        axes.set_title(title)
        axes.set_xlabel(unit)
        axes.set_ylabel("share (%)")
        axes.grid(axis="x", visible=False)
    return figure


def sizes_plot(summary: TraceSummary) -> Figure:
    return _histogram(summary.sizes, "Sizes asked for", "bytes")


def lifetimes_plot(summary: TraceSummary) -> Figure:
    return _histogram(
        summary.lifetimes, "Lifetimes of blocks that were freed", "events between malloc and free"
    )
