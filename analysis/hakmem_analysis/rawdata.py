"""Raw data from elsewhere: lists of runs without block record, or google-benchmark JSON. Runs of
equal index are not pairs, so everything here is unpaired."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blocks import Pairs
from .comparison import Comparison
from .errors import AnalysisError
from .evidence import Evidence, judge_unpaired
from .files import Json, read_json
from .forecast import score
from .plan import Arm, Cell, Forecast, sign_of
from .stats.decide import Band
from .stats.describe import apply_rule, arm_stats
from .units import Unit, unit_of
from .verdict import Verdict

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RawData:
    """Two lists of runs and what is known of them; `title` and `source` may be empty."""

    phase: str
    title: str
    source: str
    note: str
    box: str | None
    workload: str
    metric: str
    unit: str
    direction: str
    threshold_pct: float
    forecast: Forecast | None
    baseline: Array
    treatment: Array
    baseline_name: str = "baseline"
    treatment_name: str = "treatment"


def load_raw(path: Path, arms: tuple[str, str] | None = None, metric: str | None = None) -> RawData:
    """Reads `path`: an object with the lists `baseline` and `treatment`, or google-benchmark's JSON
    (`arms` names two benchmarks, `metric` a field of them). AnalysisError where it is neither."""
    content = read_json(path)
    if isinstance(content.get("benchmarks"), list):
        return _from_gbench(content, path, arms, metric)
    forecast = content.get("forecast")
    return RawData(
        phase=str(content.get("phase") or _phase_of(path.stem)),
        title=str(content.get("title") or ""),
        source=str(content.get("source") or path.name),
        note=str(content.get("note") or ""),
        box=content.get("box"),
        workload=str(content.get("workload") or "unknown"),
        metric=str(content.get("metric") or "value"),
        unit=str(content.get("unit") or ""),
        direction=_direction(content.get("direction", "higher"), path),
        threshold_pct=float(content.get("neutral_threshold_pct") or 1.0),
        forecast=Forecast(float(forecast["low"]), float(forecast["high"])) if forecast else None,
        baseline=_numbers(content, "baseline", path),
        treatment=_numbers(content, "treatment", path),
    )


def _phase_of(stem: str) -> str:
    """phase62a.json holds phase 62A."""
    return stem[5:].upper() if stem.lower().startswith("phase") and len(stem) > 5 else stem


def _direction(value: Any, path: Path) -> str:
    if value not in ("higher", "lower"):
        raise AnalysisError(str(path), f"direction '{value}' is unknown", "write higher or lower")
    return str(value)


def _numbers(content: Json, key: str, path: Path) -> Array:
    values = content.get(key)
    if not isinstance(values, list) or not values:
        raise AnalysisError(
            str(path),
            f"has no list of runs '{key}'",
            "give the lists 'baseline' and 'treatment', or google-benchmark JSON",
        )
    for position, value in enumerate(values):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0.0 < value < float("inf"):
            raise AnalysisError(
                str(path), f"{key}[{position}] is not a number above 0", "correct or remove the run"
            )
    return np.array(values, dtype=float)


def _from_gbench(
    content: Json, path: Path, arms: tuple[str, str] | None, metric: str | None
) -> RawData:
    """google-benchmark JSON: every repetition of a benchmark (run_type iteration) is a run."""
    runs: dict[str, list[Json]] = {}
    for entry in content["benchmarks"]:
        if entry.get("run_type", "iteration") == "iteration" and not entry.get("error_occurred"):
            runs.setdefault(str(entry.get("run_name") or entry.get("name")), []).append(entry)
    names = arms or tuple(runs)
    absent = [name for name in names if name not in runs]
    if absent or len(names) != 2:
        what = (
            f"benchmark '{absent[0]}' is not in it"
            if absent
            else f"it holds {len(runs)} benchmarks"
        )
        known = ", ".join(list(runs)[:8])
        raise AnalysisError(
            str(path), what, f"name two with --arms BASELINE TREATMENT (there are: {known})"
        )
    first, second = runs[names[0]], runs[names[1]]
    field = metric or "real_time"
    is_rate = field.endswith("per_second")
    lists = {
        "baseline": [entry.get(field) for entry in first],
        "treatment": [entry.get(field) for entry in second],
    }
    return RawData(
        phase=path.stem,
        title=f"{names[1]} against {names[0]}",
        source=path.name,
        note="google-benchmark repetitions: made one arm after the other, so drift is not cancelled.",
        box=None,
        workload=names[0],
        metric=field,
        unit="per second" if is_rate else str(first[0].get("time_unit", "ns")),
        direction="higher" if is_rate else "lower",
        threshold_pct=1.0,
        forecast=None,
        baseline=_numbers(lists, "baseline", path),
        treatment=_numbers(lists, "treatment", path),
        baseline_name=names[0],
        treatment_name=names[1],
    )


def signed_logs(values: Array, sign: int) -> Array:
    """sign·ln(values)."""
    logs: Array = np.log(values)
    return logs if sign > 0 else -logs


def judge_raw(data: RawData) -> tuple[Verdict, Evidence]:
    """The verdict on raw data: Welch on logs, no proof of execution (there is no record of it)."""
    sign = sign_of(data.direction)
    evidence = judge_unpaired(
        signed_logs(data.treatment, sign),
        signed_logs(data.baseline, sign),
        Band.of(data.threshold_pct),
    )
    base, test = arm_stats(data.baseline), arm_stats(data.treatment)
    none = np.empty(0)
    comparison = Comparison(
        Cell(data.workload, data.workload, {}, True),
        Arm(data.treatment_name, "treatment", "unknown", {}, None, None),
        "primary",
        Pairs(np.empty(0, dtype=np.int64), none, none),
        evidence,
        apply_rule(base, test, sign, data.threshold_pct),
        base,
        test,
    )
    verdict = Verdict(
        phase=data.phase,
        run="raw data",
        title=data.title,
        decision=evidence.verdict,
        qualifier="",
        comparisons=(comparison,),
        guards=(),
        forecast=score(data.forecast, evidence),
        is_aa=False,
        warnings=(),
        unit=_unit(data),
        void=(),
    )
    return verdict, evidence


def _unit(data: RawData) -> Unit:
    return unit_of(data.metric, data.unit)
