"""What a manifest says was to run: arms, cells, metric, thresholds. Typed, with the defaults of
docs/design/files.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .errors import AnalysisError
from .files import Json
from .stats.sequential import DEFAULT_LOOKS

OURS = ("lab", "standard", "fast", "fast-pgo")  # libraries by name; of each but lab also clang's
NOT_BOXES = ("HAKMEM_REPORT", "HAKMEM_STRICT")  # settings of the allocator that are no boxes


@dataclass(frozen=True)
class Arm:
    """One arm: its name, role (baseline, treatment or reference), library and box variables."""

    name: str
    role: str
    library: str
    env: dict[str, str]
    sha256: str | None
    build_id: str | None

    @property
    def boxes(self) -> dict[str, str]:
        """The box variables among `env`."""
        return {
            name: value
            for name, value in self.env.items()
            if name.startswith("HAKMEM_") and name not in NOT_BOXES
        }

    @property
    def is_hakmem(self) -> bool:
        """Whether the library is ours, so that it must report its boxes."""
        is_named = self.library.removesuffix("-clang") in OURS
        return is_named or "hakmem" in self.library.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Cell:
    """One cell of the matrix; `params` as the workload got them."""

    name: str
    workload: str
    params: Json
    is_primary: bool


@dataclass(frozen=True)
class GuardSpec:
    """A metric that may not get worse by more than `margin_pct` %."""

    metric: str
    direction: str
    margin_pct: float


@dataclass(frozen=True)
class Forecast:
    """The expected change in %, positive is better."""

    low: float
    high: float


@dataclass(frozen=True)
class Plan:
    """The whole plan of a run. `looks` is empty for a run of fixed length."""

    phase: str
    run: str
    title: str
    hypothesis: str
    mode: str
    metric: str
    direction: str
    threshold_pct: float
    runs: int
    arms: tuple[Arm, ...]
    cells: tuple[Cell, ...]
    guards: tuple[GuardSpec, ...]
    forecast: Forecast | None
    box: str | None
    values: tuple[Any, Any] | None
    looks: tuple[int, ...] = field(default=())
    report: str = "verdict"

    @property
    def sign(self) -> int:
        """+1 where a higher value of the metric is better, else −1."""
        return sign_of(self.direction)

    def arm(self, name: str) -> Arm:
        """The arm called `name`; KeyError where there is none."""
        return {arm.name: arm for arm in self.arms}[name]

    def cell(self, name: str) -> Cell:
        """The cell called `name`; KeyError where there is none."""
        return {cell.name: cell for cell in self.cells}[name]

    @property
    def baseline(self) -> Arm:
        """The arm that the others are held against."""
        return next(arm for arm in self.arms if arm.role == "baseline")

    @property
    def treatments(self) -> tuple[Arm, ...]:
        """The arms under test; the first one decides."""
        return tuple(arm for arm in self.arms if arm.role == "treatment")

    @property
    def references(self) -> tuple[Arm, ...]:
        """Arms that only give the percentage of a known library."""
        return tuple(arm for arm in self.arms if arm.role == "reference")

    @property
    def primary(self) -> Cell:
        """The cell that decides."""
        return next(cell for cell in self.cells if cell.is_primary)


def sign_of(direction: str) -> int:
    """+1 for "higher", −1 for "lower"."""
    return 1 if direction == "higher" else -1


def _get(source: Json, key: str, kinds: tuple[type, ...], where: str, default: Any = ...) -> Any:
    value = source.get(key, default)
    if value is ...:
        raise AnalysisError(where, f"has no '{key}'", "restore the file that the harness wrote")
    if value is default or isinstance(value, kinds):
        return value
    raise AnalysisError(where, f"'{key}' has the wrong type", "restore the file")


def _arms(manifest: Json, where: str) -> tuple[Arm, ...]:
    arms = []
    for position, entry in enumerate(_get(manifest, "arms", (list,), where)):
        default_role = ("baseline", "treatment")[position] if position < 2 else "reference"
        place = f"{where}: arms[{position}]"
        arms.append(
            Arm(
                _get(entry, "name", (str,), place),
                entry.get("role") or default_role,
                str(entry.get("library") or "unknown"),
                {key: str(value) for key, value in (entry.get("env") or {}).items()},
                entry.get("sha256"),
                entry.get("build_id"),
            )
        )
    roles = [arm.role for arm in arms]
    if roles.count("baseline") != 1 or "treatment" not in roles:
        raise AnalysisError(
            where, f"its arms have the roles {roles}", "it takes one baseline and a treatment"
        )
    return tuple(arms)


def _cells(manifest: Json, where: str) -> tuple[Cell, ...]:
    entries = _get(manifest, "cells", (list,), where)
    if not entries:
        raise AnalysisError(where, "lists no cell", "restore the file that the harness wrote")
    marked = [bool(entry.get("primary")) for entry in entries]
    primary = marked.index(True) if True in marked else 0
    return tuple(
        Cell(
            _get(entry, "cell", (str,), f"{where}: cells[{position}]"),
            str(entry.get("workload") or entry["cell"]),
            entry.get("params") or {},
            position == primary,
        )
        for position, entry in enumerate(entries)
    )


def _guards(experiment: Json, where: str) -> tuple[GuardSpec, ...]:
    return tuple(
        GuardSpec(
            _get(entry, "metric", (str,), f"{where}: guards[{position}]"),
            str(entry.get("direction", "lower")),
            float(_get(entry, "margin_pct", (int, float), f"{where}: guards[{position}]")),
        )
        for position, entry in enumerate(experiment.get("guards") or [])
    )


def _forecast(experiment: Json) -> Forecast | None:
    value = experiment.get("forecast")
    if not isinstance(value, dict) or "low" not in value or "high" not in value:
        return None
    return Forecast(float(value["low"]), float(value["high"]))


def _box(experiment: Json, arms: tuple[Arm, ...]) -> tuple[str | None, tuple[Any, Any] | None]:
    """The box under test: as the experiment names it, or the one variable in which the first
    treatment differs from the baseline."""
    values = experiment.get("values")
    if experiment.get("box") and isinstance(values, list) and len(values) == 2:
        return str(experiment["box"]), (values[0], values[1])
    base = next(arm for arm in arms if arm.role == "baseline")
    test = next(arm for arm in arms if arm.role == "treatment")
    names = sorted(set(base.boxes) | set(test.boxes))
    different = [name for name in names if base.boxes.get(name) != test.boxes.get(name)]
    if base.library == test.library and len(different) == 1:
        return different[0], (base.boxes.get(different[0]), test.boxes.get(different[0]))
    return None, None


def read_plan(manifest: Json, where: str) -> Plan:
    """Takes a manifest; `where` names it in errors. AnalysisError where a needed key is missing."""
    try:
        return _plan(manifest, where)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise AnalysisError(where, f"is damaged ({error})", "restore it from a copy") from None


def _plan(manifest: Json, where: str) -> Plan:
    experiment: Json = _get(manifest, "experiment", (dict,), where)
    metric = experiment.get("metric") or {}
    arms = _arms(manifest, where)
    box, values = _box(experiment, arms)
    is_sequential = bool(experiment.get("until_decided"))
    looks = tuple(int(look) for look in experiment.get("looks") or DEFAULT_LOOKS)
    if any(later <= earlier for earlier, later in zip((1, *looks), looks)):
        raise ValueError(f"looks {list(looks)} are not rising block counts")
    return Plan(
        phase=str(manifest.get("phase") or experiment.get("phase") or "?"),
        run=str(manifest.get("run") or "?"),
        title=str(experiment.get("title") or ""),
        hypothesis=str(experiment.get("hypothesis") or ""),
        mode=str(experiment.get("mode") or "process"),
        metric=str(metric.get("name") or "ops_per_s"),
        direction=str(metric.get("direction") or "higher"),
        threshold_pct=float(experiment.get("neutral_threshold_pct") or 1.0),
        runs=int(experiment.get("runs") or 10),
        arms=arms,
        cells=_cells(manifest, where),
        guards=_guards(experiment, where),
        forecast=_forecast(experiment),
        box=box,
        values=values,
        looks=looks if is_sequential else (),
        report=str(experiment.get("report") or "verdict"),
    )
