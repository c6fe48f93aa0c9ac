"""The 2×2 section: found from the arms' variables, not declared."""

from __future__ import annotations

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


def factorial(run: Run, selection: Selection) -> Json | None:
    """Rows of the section for the primary cell; None where the arms are no square or fewer than two
    blocks have all four."""
    square = find_square(run.plan)
    if square is None:
        return None
    first, second, arms = square
    values = table(selection, run.plan.primary.name, run.plan.metric)
    if any(arm.name not in values.columns for arm in arms):
        return None
    complete = values[[arm.name for arm in arms]].dropna()
    complete = complete[(complete > 0).all(axis=1)]
    if len(complete) < 2:
        return None
    logs = run.plan.sign * np.log(complete.to_numpy(dtype=float))
    effects = two_by_two(logs[:, 0], logs[:, 1], logs[:, 2], logs[:, 3])
    labels = {
        "first": f"`{first}` alone",
        "second": f"`{second}` alone",
        "both": "both",
        "interaction": "interaction (both beyond the sum of each)",
    }
    rows = [_row(labels[effect.name], effect, len(complete)) for effect in effects]
    intro = "Effects against the arm with neither change, within blocks; positive is better."
    return {"intro": intro, "rows": rows, "text": _reading(effects[3])}


def _row(label: str, effect: Effect, blocks: int) -> list[str]:
    ends = (percent(effect.low), percent(effect.high))
    return [label, f"{signed(percent(effect.mean))} %", f"{span(ends)} %", str(blocks)]


def _reading(interaction: Effect) -> str:
    if interaction.low > 0.0:
        return "The boxes help each other: the interval of the interaction lies above 0."
    if interaction.high < 0.0:
        return "The boxes get in each other's way: the interval of the interaction lies below 0."
    return "No interaction was shown: its interval holds 0."
