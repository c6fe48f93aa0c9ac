"""Reading a result folder: `load_run(path)` gives a Run with the samples as a DataFrame."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from .errors import AnalysisError
from .files import Json, check_format, read_json
from .plan import Plan, read_plan

STATUSES = (
    "ok",
    "crash",
    "timeout",
    "bad_output",
    "failed_check",
    "no_proof",
    "interrupted",
)
FIELDS = (
    "cell",
    "arm",
    "block",
    "slot",
    "session",
    "seed",
    "attempt",
    "started",
    "status",
    "detail",
    "exit_code",
    "signal",
    "checksum",
    "void",
    "proof",
    "record",
    "missing",
    "counter_shares",
)
_NEEDED = {"cell": str, "arm": str, "block": int, "status": str, "metrics": dict}


@dataclass
class Run:
    """One result folder.

    samples: a row a process, in file order; columns FIELDS, `line` (of samples.jsonl) and one a
    metric in the unit of its name, where NaN means "could not be had" and `missing` says why.
    warnings: what a reader must know about the files. missing_cells: in the plan without a sample.
    """

    path: Path
    manifest: Json
    plan: Plan
    samples: pd.DataFrame
    warnings: list[str] = field(default_factory=list)
    missing_cells: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """The manifest's status: complete, running, interrupted or failed."""
        return str(self.manifest.get("status") or "unknown")


def load_run(path: str | Path) -> Run:
    """Reads `path`, a folder results/PHASE/RUN. AnalysisError where it is no such folder, of a
    higher format, or damaged anywhere but in an unterminated last line of samples.jsonl."""
    folder = Path(path)
    if not folder.is_dir():
        raise AnalysisError(str(folder), "no such folder", "name a folder results/PHASE/RUN")
    manifest = read_json(folder / "manifest.json")
    check_format(manifest, str(folder / "manifest.json"))
    plan = read_plan(manifest, str(folder / "manifest.json"))
    records, warnings = read_samples(folder / "samples.jsonl")
    _check_names(records, plan, folder / "samples.jsonl")
    samples = _frame(records)
    warnings += _edited(folder, manifest)
    seen = set(samples["cell"])
    missing = [cell.name for cell in plan.cells if cell.name not in seen]
    if missing:
        warnings.append("cells without a sample: " + ", ".join(missing))
    return Run(folder, manifest, plan, samples, warnings, missing)


def _edited(folder: Path, manifest: Json) -> list[str]:
    """A warning where the copy of the experiment is not the file that was run."""
    copy = folder / "experiment.json"
    wanted = manifest.get("experiment_sha256")
    if not wanted or not copy.exists():
        return []
    found = hashlib.sha256(copy.read_bytes()).hexdigest()
    return [] if found == wanted else ["experiment.json was edited after the run"]


def read_samples(path: Path) -> tuple[list[Json], list[str]]:
    """The records of samples.jsonl, each with its `line`, and warnings. An absent file is an empty
    one: the run was stopped before its first sample."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return [], [f"{path.name}: no such file, no sample was taken"]
    except OSError as error:
        raise AnalysisError(str(path), f"cannot be read ({error})", "check the file") from None
    lines = content.split(b"\n")
    warnings = []
    if lines.pop():
        warnings.append(
            f"{path.name}:{len(lines) + 1}: the last record is cut short and was dropped"
        )
    return [parse_sample(line, f"{path}:{n}", n) for n, line in enumerate(lines, 1)], warnings


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def parse_sample(line: bytes, where: str, number: int) -> Json:
    """One line of samples.jsonl, checked. AnalysisError names the line."""
    try:
        record = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise AnalysisError(
            where, f"is damaged ({error})", "restore the file, or start a new run"
        ) from None
    if not isinstance(record, dict):
        raise AnalysisError(where, "is no JSON object", "restore the file, or start a new run")
    check_format(record, where)
    for key, kind in _NEEDED.items():
        if not isinstance(record.get(key), kind):
            raise AnalysisError(where, f"'{key}' is missing or wrong", "restore the file")
    if record["status"] not in STATUSES:
        raise AnalysisError(
            where, f"status '{record['status']}' is unknown", "use the hak version that wrote it"
        )
    for name, value in record["metrics"].items():
        if value is not None and not isinstance(value, (int, float)):
            raise AnalysisError(where, f"metric '{name}' is no number", "restore the file")
    record["line"] = number
    return record


def _check_names(records: list[Json], plan: Plan, path: Path) -> None:
    cells = {cell.name for cell in plan.cells}
    arms = {arm.name for arm in plan.arms} | {"slices", "slices_aa"}
    for record in records:
        for key, known in (("cell", cells), ("arm", arms)):
            if record[key] not in known:
                raise AnalysisError(
                    f"{path}:{record['line']}",
                    f"{key} '{record[key]}' is not in the manifest",
                    "the folder mixes two runs; restore it",
                )


def metrics_of(record: Json) -> dict[str, float | None]:
    """The metrics of one record, and the workload's latency percentiles as `latency_ns.p99` …"""
    metrics = dict(record["metrics"])
    workload = record.get("record")
    latency = workload.get("latency_ns") if isinstance(workload, dict) else None
    if isinstance(latency, dict):
        for name, value in latency.items():
            if isinstance(value, (int, float)):
                metrics.setdefault(f"latency_ns.{name}", value)
    return metrics


def _frame(records: list[Json]) -> pd.DataFrame:
    metrics = pd.DataFrame([metrics_of(record) for record in records]).astype(float)
    base = pd.DataFrame(
        {
            "line": [record["line"] for record in records],
            **{name: [record.get(name) for record in records] for name in FIELDS},
        }
    )
    for name, default in (("attempt", 1), ("session", 1), ("slot", 0), ("block", 0)):
        base[name] = base[name].fillna(default).astype(int)
    clashing = [name for name in metrics.columns if name in base.columns]
    return pd.concat([base, metrics.drop(columns=clashing)], axis=1)
