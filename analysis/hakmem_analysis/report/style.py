"""The look of all plots, and deterministic SVG files: the same data give the same bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib.figure import Figure  # noqa: E402

from ..files import write_text  # noqa: E402

INK = "#1f2933"
MUTED = "#7b8794"
GRID = "#e4e7eb"
BAND = "#dfe6ee"
BASELINE = "#3d6b99"
TREATMENT = "#d9622b"
REFERENCES = ("#7f8c5a", "#8e6c9e", "#5f9ea0", "#a08060")
WORDS = {
    "GO": "#2e8b57",
    "STRONG GO": "#1c6b3f",
    "NO-GO": "#c0392b",
    "NEUTRAL": "#52708f",
    "UNDECIDED": "#b7791f",
    "INVALID": "#6b2d5c",
}

_RC: dict[str, Any] = {
    "svg.hashsalt": "hakmem",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 12.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "figure.facecolor": "white",
    "axes.formatter.useoffset": False,
}


def styled() -> Any:
    """A context in which figures take this look."""
    return matplotlib.rc_context(_RC)


def save(figure: Figure, path: Path) -> None:
    """Writes `figure` as SVG, without a date."""
    with styled():
        stream = io.StringIO()
        figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    write_text(path, "\n".join(lines) + "\n")


def word_colour(word: str) -> str:
    """The colour of a verdict."""
    return WORDS.get(word, MUTED)
