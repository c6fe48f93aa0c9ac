"""Samples for other tools: CSV, and google-benchmark JSON (which compare.py and others read)."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas as pd

from .blocks import select
from .files import Json, finite
from .load import FIELDS, Run
from .slices import process_pairs


def to_csv(run: Run) -> str:
    """All samples, a row a process; `counts` is 1 where the sample enters the statistics. A value
    that could not be had is an empty field; nested values are JSON text."""
    samples = run.samples.copy()
    samples["counts"] = samples["line"].isin(select(run).valid["line"]).astype(int)
    for name in ("record", "proof", "missing"):
        samples[name] = [
            "" if value is None else json.dumps(value, sort_keys=True) for value in samples[name]
        ]
    for name in ("seed", "exit_code", "signal"):
        samples[name] = samples[name].astype("Int64")
    stream = io.StringIO()
    samples.to_csv(stream, index=False, lineterminator="\n")
    return stream.getvalue()


def to_gbench(run: Run) -> Json:
    """The samples that count as google-benchmark repetitions: name CELL/ARM, repetition = block,
    real_time in ns per operation (or the wall time in ns), the plan's metrics as counters."""
    valid = _by_arm(run) if run.plan.mode == "slices" else select(run).valid
    totals = valid.groupby(["cell", "arm"])["block"].nunique()
    machine = run.manifest.get("machine") or {}
    known = {"line", *FIELDS}
    metrics = [name for name in valid.columns if name not in known]
    context = {
        "date": run.manifest.get("started"),
        "host_name": str(machine.get("fingerprint") or "unknown"),
        "executable": f"hak {run.plan.phase}/{run.plan.run}",
        "num_cpus": machine.get("cores"),
        "library_build_type": "release",
    }
    entries = [_entry(row, metrics, int(totals[row["cell"], row["arm"]])) for row in _rows(valid)]
    return {"context": context, "benchmarks": entries}


def _by_arm(run: Run) -> pd.DataFrame:
    """Slices mode: a row for each arm of each process, with the plan's metric alone; the rest of a
    sample belongs to both arms."""
    rows = []
    for cell in run.plan.cells:
        pair = process_pairs(run, cell.name, "slices", run.plan.treatments[0].name)
        for block, first, second in zip(pair.blocks, pair.first, pair.second):
            for arm, value in ((run.plan.baseline, first), (run.plan.treatments[0], second)):
                rate, time = ("ops_per_s", "ns_per_op")
                name, other = (rate, time) if run.plan.metric == rate else (time, rate)
                values = {name: float(value), other: 1e9 / float(value)}
                rows.append({"cell": cell.name, "arm": arm.name, "block": int(block), **values})
    columns = ["cell", "arm", "block", "ops_per_s", "ns_per_op"]
    return pd.DataFrame(rows, columns=columns)


def _rows(valid: pd.DataFrame) -> list[dict[str, Any]]:
    ordered = valid.sort_values(["cell", "arm", "block"])
    rows: list[dict[str, Any]] = ordered.to_dict("records")
    return rows


def _entry(row: dict[str, Any], metrics: list[str], repetitions: int) -> Json:
    values = {name: finite(row[name]) for name in metrics}
    per_operation, wall = values.get("ns_per_op"), values.get("wall_s")
    real = per_operation if per_operation is not None else None if wall is None else wall * 1e9
    name = f"{row['cell']}/{row['arm']}"
    entry: Json = {
        "name": name,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": repetitions,
        "repetition_index": int(row["block"]),
        "threads": 1,
        "iterations": 1,
        "real_time": real,
        "cpu_time": real,
        "time_unit": "ns",
    }
    if values.get("ops_per_s") is not None:
        entry["items_per_second"] = values["ops_per_s"]
    entry.update({key: value for key, value in values.items() if value is not None})
    return entry
