"""The 2×2 section: found from the arms' variables, not declared."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..blocks import Selection, table
from ..load import Run
from ..plan import Arm, Plan
from ..stats.factorial import Effect, two_by_two
from ..stats.intervals import percent
from ..units import signed, span

Json = dict[str, Any]


def find_square(plan: Plan) -> tuple[str, str, tuple[Arm, Arm, Arm, Arm]] | None:
    """The two variables and the arms (neither, first, second, both), where four arms of one library
    are the product of two values of two variables and the baseline is a corner; else None."""
    base = plan.baseline
    arms = [arm for arm in plan.arms if arm.role != "reference" and arm.library == base.library]
    names = sorted({name for arm in arms for name in arm.boxes})
    values = {name: sorted({arm.boxes.get(name, "") for arm in arms}) for name in names}
    varying = [name for name in names if len(values[name]) > 1]
    if len(varying) != 2 or any(len(values[name]) != 2 for name in varying):
        return None
    corner = {}
    for arm in arms:
        corner[tuple(arm.boxes.get(n, "") != base.boxes.get(n, "") for n in varying)] = arm
    if len(arms) != 4 or set(corner) != set(product((False, True), repeat=2)):
        return None
    picked = (
        corner[False, False],
        corner[True, False],
        corner[False, True],
        corner[True, True],
    )
    return varying[0], varying[1], picked


@dataclass(frozen=True)
class CellEffects:
    """The 2×2 of one cell: the effects over the blocks that have all four arms."""

    cell: str
    blocks: int
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Square:
    """Two variables, each with two values, in every cell with at least two whole blocks; the primary
    cell first."""

    first: str
    second: str
    cells: tuple[CellEffects, ...]

    def to_json(self) -> Json:
        """As `factorial` in verdict.json."""
        return {
            "first": self.first,
            "second": self.second,
            "cells": [
                {
                    "cell": item.cell,
                    "n": item.blocks,
                    "effects": {
                        effect.name: {
                            "delta_pct": percent(effect.mean),
                            "ci95_pct": [percent(effect.low), percent(effect.high)],
                            "p_value": effect.p_value,
                        }
                        for effect in item.effects
                    },
                }
                for item in self.cells
            ],
        }


def _cell_effects(
    run: Run, selection: Selection, cell: str, arms: tuple[Arm, ...]
) -> CellEffects | None:
    values = table(selection, cell, run.plan.metric)
    if any(arm.name not in values.columns for arm in arms):
        return None
    complete = values[[arm.name for arm in arms]].dropna()
    complete = complete[(complete > 0).all(axis=1)]
    if len(complete) < 2:
        return None
    logs = run.plan.sign * np.log(complete.to_numpy(dtype=float))
    effects = two_by_two(logs[:, 0], logs[:, 1], logs[:, 2], logs[:, 3])
    return CellEffects(cell, len(complete), tuple(effects))


def square_of(run: Run, selection: Selection) -> Square | None:
    """None where the arms are no square, or the primary cell has fewer than two whole blocks."""
    found = find_square(run.plan)
    if found is None:
        return None
    first, second, arms = found
    names = [cell.name for cell in sorted(run.plan.cells, key=lambda cell: not cell.is_primary)]
    items = [_cell_effects(run, selection, name, arms) for name in names]
    if items[0] is None:
        return None
    return Square(first, second, tuple(item for item in items if item is not None))


def factorial(square: Square | None) -> Json | None:
    """Rows of the report's section; None where there is no square."""
    if square is None:
        return None
    labels = {
        "first": f"`{square.first}` alone",
        "second": f"`{square.second}` alone",
        "both": "both",
        "interaction": "interaction (both beyond the sum of each)",
    }
    rows = [
        _row(item.cell, labels[effect.name], effect, item.blocks)
        for item in square.cells
        for effect in item.effects
    ]
    intro = "Effects against the arm with neither change, within blocks; positive is better."
    reading = _reading(square.cells[0].effects[3])
    if len(square.cells) > 1:
        reading = f"In `{square.cells[0].cell}`: {reading} The other cells stand uncorrected."
    return {"intro": intro, "rows": rows, "text": reading}


def _row(cell: str, label: str, effect: Effect, blocks: int) -> list[str]:
    ends = (percent(effect.low), percent(effect.high))
    return [cell, label, f"{signed(percent(effect.mean))} %", f"{span(ends)} %", str(blocks)]


def _reading(interaction: Effect) -> str:
    if interaction.low > 0.0:
        return "The boxes help each other: the interval of the interaction lies above 0."
    if interaction.high < 0.0:
        return "The boxes get in each other's way: the interval of the interaction lies below 0."
    return "No interaction was shown: its interval holds 0."
