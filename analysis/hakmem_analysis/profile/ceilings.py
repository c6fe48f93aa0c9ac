"""What the compiler could still give: every comparison of each result of `hak ceiling`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import AnalysisError
from ..files import Json, check_format, read_json
from ..history import Entry
from ..units import count, signed, span

PHASE = "ceiling"


@dataclass(frozen=True)
class BuildGain:
    """One build against another in one cell; None where it was not measured."""

    build: str
    against: str
    cell: str
    decision: str
    delta_pct: float | None
    ci95_pct: list[float] | None
    n: int

    def text(self) -> str:
        head = f"{self.build} against {self.against} on {self.cell}: "
        if self.delta_pct is None:
            return head + self.decision
        interval = f" ({span(self.ci95_pct)})" if self.ci95_pct else ""
        return (
            f"{head}{signed(self.delta_pct)} %{interval}, {count(self.n, 'block')}, {self.decision}"
        )


@dataclass(frozen=True)
class Ceiling:
    """One result. `gains` is empty where it has not been analysed."""

    entry: Entry
    gains: list[BuildGain]

    def to_json(self) -> list[Json]:
        return [asdict(gain) for gain in self.gains]

    def lines(self) -> list[str]:
        where = f"{self.entry.title}, results/{self.entry.path}"
        if not self.gains:
            return [f"{self.entry.decision} {where}"]
        return [f"{where}:", *(f"  {gain.text()}" for gain in self.gains)]


def ceilings(results: Path, history: list[Entry], warnings: list[str]) -> list[Ceiling]:
    """Of all results whose phase says that they are one. A file that cannot be read is a warning."""
    found = []
    for entry in history:
        if not entry.phase.startswith(PHASE):
            continue
        path = results / entry.path / "verdict.json"
        cells: list[Json] = []
        if path.exists():
            try:
                content = read_json(path)
                check_format(content, str(path))
                cells = content.get("cells") or []
            except AnalysisError as error:
                warnings.append(str(error))
        found.append(Ceiling(entry, [_gain(cell) for cell in cells]))
    return found


def _gain(cell: Json) -> BuildGain:
    evidence = cell.get("evidence") or {}
    build = str(cell.get("treatment") or "?")
    others = [name for name in cell.get("arms") or {} if name != build]
    return BuildGain(
        build,
        others[0] if others else "?",
        str(cell.get("cell") or "?"),
        str(evidence.get("verdict") or "?"),
        evidence.get("delta_pct"),
        evidence.get("ci95_pct"),
        int(evidence.get("n") or 0),
    )
