"""Matrix, guards, references, execution proof and raw data as rows of text."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..blocks import Selection, log_differences, pairs, table
from ..load import Run
from ..pairing import cell_pairs
from ..plan import Arm
from ..proof import arm_proof, boxes_under_test
from ..stats import intervals
from ..stats.intervals import percent
from ..units import count, plain, signed, span, unit_of
from ..verdict import Verdict

Json = dict[str, Any]


def arm_title(arm: Arm, box: str | None) -> str:
    """ "baseline (HAKMEM_X=0)", or with the library where that is what differs."""
    if box is not None and box in arm.boxes:
        return f"{arm.name} ({box}={arm.boxes[box]})"
    return f"{arm.name} ({arm.library})" if arm.name != arm.library else arm.name


def matrix(verdict: Verdict) -> Json | None:
    """Every comparison in one table; None where there is only one."""
    if len(verdict.comparisons) < 2:
        return None
    unit = verdict.unit
    suffix = f" ({unit.name})" if unit.name else ""
    rows = []
    for item in verdict.comparisons:
        base, test, e = item.baseline_stats, item.treatment_stats, item.evidence
        rows.append(
            [
                f"**{item.cell.name}**" if item.role == "primary" else item.cell.name,
                item.treatment.name,
                unit.show(base.mean) if base else "–",
                unit.show(test.mean) if test else "–",
                f"{signed(e.delta_pct)} %" if e.delta_pct is not None else "–",
                f"{span(e.ci95_pct)} %" if e.ci95_pct is not None else "–",
                str(e.n),
                item.rule.verdict if item.rule else "–",
                item.word.text + (f" ({e.text})" if item.invalid_reasons else ""),
            ]
        )
    columns = ["Cell", "Arm", f"Baseline mean{suffix}", f"Arm mean{suffix}", "Delta"]
    columns += ["95 % interval", "Blocks", "Rule", "Evidence"]
    intro = (
        "The bold cell decides. GO, STRONG GO and NO-GO of the others stand after Holm's correction "
        f"over {count(len(rows) - 1, 'comparison')}."
    )
    return {"intro": intro, "columns": columns, "rows": rows}


def guards(verdict: Verdict) -> Json | None:
    """The guard table; None without guards."""
    if not verdict.guards:
        return None
    rows = []
    for guard in verdict.guards:
        unit = unit_of(guard.metric)
        worse = "+" if guard.direction == "lower" else "−"
        rows.append(
            [
                guard.cell,
                unit.label,
                f"{signed(guard.change_pct)} %" if guard.change_pct is not None else "–",
                f"{span(guard.ci95_pct)} %" if guard.ci95_pct is not None else "–",
                f"{worse}{guard.margin_pct:g} %",
                str(guard.n),
                guard.state,
                guard.reason or "the interval lies within the margin",
            ]
        )
    intro = (
        "Change of the metric itself (for memory and time + is worse). PASS: the 95 % interval stays "
        "within the margin. FAIL: all of it lies beyond, after Holm's correction. GO takes PASS "
        "everywhere."
    )
    return {"intro": intro, "rows": rows}


def references(verdict: Verdict, run: Run, selection: Selection) -> Json | None:
    """Percent of each reference arm; None without references."""
    found = verdict.primary.references
    if not found:
        return None
    rows = []
    for item in found:
        if item.baseline_pct is None:
            rows.append([item.library, f"not available: {item.reason}", "–", "–", "–", str(item.n)])
            continue
        rows.append(
            [
                item.library,
                f"{item.baseline_pct:.1f} %",
                _share(item.baseline_ci95_pct),
                f"{item.treatment_pct:.1f} %" if item.treatment_pct is not None else "–",
                _share(item.treatment_ci95_pct),
                str(item.n),
            ]
        )
    label = verdict.unit.label
    intro = f"Percent of the library's {label}, paired in the same blocks; above 100 % is better."
    return {"intro": intro, "rows": rows, "gate_tax": _gate_tax(verdict, run, selection)}


def _share(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{interval[0]:.1f}…{interval[1]:.1f} %"


def _gate_tax(verdict: Verdict, run: Run, selection: Selection) -> str:
    """What the lab's entry jump costs: a lab arm against libhakmem with the same boxes."""
    head = "Gate tax (libhakmem-lab.so against libhakmem.so): "
    plan, item = run.plan, verdict.primary
    if plan.baseline.library != "lab" or plan.mode == "slices":
        return head + "does not apply to this run."
    standard = next((arm for arm in plan.references if arm.library == "standard"), None)
    if standard is None:
        return head + 'not measured in this run; add "standard" to `references`.'
    twins = [a for a in (plan.baseline, item.treatment) if a.boxes == standard.boxes]
    # A baseline that sets nothing but the box under test sets it to its default.
    if not twins and not standard.boxes and len(plan.baseline.boxes) == 1:
        twins = [plan.baseline]
    twin = twins[:1]
    times = table(selection, item.cell.name, "ns_per_op")
    pair = pairs(times, standard.name, twin[0].name) if twin else None
    if pair is None or len(pair.first) < 2:
        return head + f"not measured: no two blocks with an arm of the boxes of {standard.name}."
    # A pair is one malloc and one free, so twice the time of an operation.
    estimate = intervals.paired(2.0 * (pair.second - pair.first))
    low, high = intervals.t_interval(estimate, 0.05)
    return head + (
        f"{signed(float(estimate.mean))} ns per pair of malloc and free (95 % "
        f"{span((float(low), float(high)))} ns, {count(len(pair.first), 'block')}, arm {twin[0].name})."
    )


def proof(verdict: Verdict, run: Run) -> Json:
    """What each arm proved, and what it did not."""
    rows = []
    for arm in run.plan.arms:
        known = arm_proof(run, arm)
        boxes = ", ".join(f"`{name}={value}`" for name, value in known.boxes.items())
        rows.append(
            [
                arm_title(arm, run.plan.box),
                f"{known.ok} of {known.total}",
                known.mapped or ("none preloaded" if arm.library == "glibc" else "–"),
                f"`{known.sha256[:12]}`" if known.sha256 else "–",
                f"`{known.build_id[:12]}`" if known.build_id else "–",
                known.variant or "–",
                boxes or "–",
                _uses(run, known.uses, known.executed) if boxes else "–",
            ]
        )
    problems = [text for item in verdict.comparisons for text in item.invalid_reasons]
    intro = "Read back from the measured processes, in every run."
    if problems:
        intro = "Not every run proved what it ran; the verdict of its cell is INVALID."
    return {"intro": intro, "rows": rows, "problems": sorted(set(problems), key=problems.index)}


def _uses(run: Run, uses: dict[str, int | None], executed: dict[str, int | None]) -> str:
    parts = []
    tested = boxes_under_test(run)
    for box in tested:
        label = f"{box}: " if len(tested) > 1 else ""
        if uses.get(box) is not None:
            parts.append(f"{label}{uses[box]:,} or more a run")
        elif executed.get(box) is not None:
            parts.append(f"{label}{executed[box]:,} in the observe pre-run (another binary)")
        else:
            parts.append(f"{label}not counted; the variant stands for it")
    return "; ".join(parts) or "–"


def raw_data(verdict: Verdict, run: Run, selection: Selection) -> Json:
    """A row a block of the deciding cell, at full precision, with the order of the arms."""
    item = verdict.primary
    plan = run.plan
    pair = cell_pairs(run, selection, item.cell.name, plan.metric, item.treatment.name)
    unit = verdict.unit
    suffix = f" ({unit.name})" if unit.name else ""
    values = table(selection, item.cell.name, plan.metric)
    extra = [a.name for a in plan.arms if a.name in values.columns]
    others = [name for name in extra if name not in (plan.baseline.name, item.treatment.name)]
    info = _block_info(selection, item.cell.name)
    rows = []
    for position, block in enumerate(pair.blocks):
        seed, order = info.get(int(block), ("–", "–"))
        change = "–"
        if pair.first[position] > 0 and pair.second[position] > 0:
            change = signed(percent(float(log_differences(pair, plan.sign)[position])))
        shown = [plain(v[position] * unit.scale, 6) for v in (pair.first, pair.second)]
        more = [_cell_value(values, int(block), name, unit.scale) for name in others]
        rows.append([str(block), seed, order, *shown, change, *more])
    columns = ["Block", "Seed", "Order", plan.baseline.name + suffix, item.treatment.name + suffix]
    columns += ["Difference (%)", *[name + suffix for name in others]]
    voids = [
        f"void: cell {v['cell']}, block {v['block']}, attempt {v['attempt']}: {v['reason']}"
        for v in verdict.void
    ]
    intro = (
        f"Cell `{item.cell.name}`; all samples, of every cell and metric, are in `samples.jsonl`."
    )
    if plan.mode == "slices":
        intro = (
            f"Cell `{item.cell.name}`, a row a process (slices mode); slices in `samples.jsonl`."
        )
    return {"intro": intro, "columns": columns, "rows": rows, "voids": voids}


def _cell_value(values: pd.DataFrame, block: int, name: str, scale: float) -> str:
    value = values[name].get(block)
    return "–" if value is None or pd.isna(value) else plain(float(value) * scale, 6)


def _block_info(selection: Selection, cell: str) -> dict[int, tuple[str, str]]:
    """Seed and order of the arms of each block."""
    rows = selection.valid[selection.valid["cell"] == cell].sort_values(["block", "slot"])
    found = {}
    for block, part in rows.groupby("block"):
        seed = part["seed"].iloc[0]
        shown = "–" if pd.isna(seed) else str(int(seed))
        found[int(block)] = (shown, " ".join(part["arm"]))
    return found
