"""All results: what was tried on which box and workload, what came of it, how good forecasts were."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import AnalysisError
from .files import Json, check_format, read_json
from .units import count, signed, span


@dataclass(frozen=True)
class Entry:
    """One result, or the card of a box that was removed (`run` is "card"). Percentages: positive is
    better; None where not measured."""

    phase: str
    run: str
    path: str
    started: str
    title: str
    box: str | None
    values: list[Any] | None
    workload: str
    decision: str
    delta_pct: float | None
    ci95_pct: list[float] | None
    n: int
    forecast_low: float | None
    forecast_high: float | None
    forecast_outcome: str
    is_aa: bool
    reason: str

    def matches(self, box: str | None, workload: str | None, verdict: str | None) -> bool:
        """Whether every given filter fits; boxes by ENV name or id, in any case."""
        names = {self.box or "", (self.box or "").removeprefix("HAKMEM_")}
        fits_box = box is None or box.upper() in names
        fits_workload = workload is None or workload in (self.workload, self.workload.split("/")[0])
        return fits_box and fits_workload and (verdict is None or verdict == self.decision)


def read_history(results: Path) -> tuple[list[Entry], list[str]]:
    """Every results/PHASE/RUN with its verdict, oldest first, and results/cards/*.json; and a
    warning for each folder that cannot be read. AnalysisError where `results` is no folder."""
    if not results.is_dir():
        raise AnalysisError(str(results), "no such folder", "name the results folder")
    entries, warnings = [], []
    for manifest_path in sorted(results.glob("*/*/manifest.json")):
        try:
            entries.append(_entry(manifest_path.parent, results))
        except AnalysisError as error:
            warnings.append(str(error))
    for card in sorted(results.glob("cards/*.json")):
        try:
            entries.append(_card(card, results))
        except AnalysisError as error:
            warnings.append(str(error))
    return sorted(entries, key=lambda entry: (entry.started, entry.path)), warnings


def _entry(folder: Path, results: Path) -> Entry:
    manifest = read_json(folder / "manifest.json")
    check_format(manifest, str(folder / "manifest.json"))
    verdict: Json = {}
    if (folder / "verdict.json").exists():
        verdict = read_json(folder / "verdict.json")
        check_format(verdict, str(folder / "verdict.json"))
    experiment = manifest.get("experiment") or {}
    forecast = verdict.get("forecast") or {}
    evidence = verdict.get("evidence") or {}
    cells = verdict.get("cells") or manifest.get("cells") or [{}]
    qualifier = verdict.get("qualifier")
    decision = str(verdict.get("decision") or f"not analysed ({manifest.get('status', '?')})")
    return Entry(
        phase=str(manifest.get("phase") or "?"),
        run=str(manifest.get("run") or folder.name),
        path=str(folder.relative_to(results)),
        started=str(manifest.get("started") or ""),
        title=str(verdict.get("title") or experiment.get("title") or ""),
        box=verdict.get("box") or experiment.get("box"),
        values=verdict.get("values") or experiment.get("values"),
        workload=str(cells[0].get("cell") or cells[0].get("workload") or "?"),
        decision=decision,
        delta_pct=evidence.get("delta_pct"),
        ci95_pct=evidence.get("ci95_pct"),
        n=int(evidence.get("n") or 0),
        forecast_low=forecast.get("low"),
        forecast_high=forecast.get("high"),
        forecast_outcome=str(forecast.get("outcome") or "unknown"),
        is_aa=bool(verdict.get("aa")),
        reason=str(evidence.get("text") or "") + (f" ({qualifier})" if qualifier else ""),
    )


def _card(path: Path, results: Path) -> Entry:
    """The card of a removed box: what stays of it when its code is gone."""
    card = read_json(path)
    check_format(card, str(path))
    return Entry(
        phase=str(card.get("phase") or "?"),
        run="card",
        path=str(path.relative_to(results)),
        started=str(card.get("removed") or ""),
        title=str(card.get("title") or ""),
        box=card.get("box"),
        values=card.get("values"),
        workload=str(card.get("workload") or "?"),
        decision=str(card.get("decision") or "?"),
        delta_pct=card.get("delta_pct"),
        ci95_pct=card.get("ci95_pct"),
        n=int(card.get("n") or 0),
        forecast_low=None,
        forecast_high=None,
        forecast_outcome="none",
        is_aa=False,
        reason=str(card.get("reason") or ""),
    )


def forecast_score(entries: list[Entry]) -> Json:
    """How good the forecasts were: counts by outcome, and the mean of estimate minus the middle of
    the forecast in percentage points (negative: too hopeful)."""
    scored = [e for e in entries if e.forecast_outcome in ("met", "possible", "missed")]
    errors = [
        e.delta_pct - (e.forecast_low + e.forecast_high) / 2.0
        for e in scored
        if e.delta_pct is not None and e.forecast_low is not None and e.forecast_high is not None
    ]
    return {
        "scored": len(scored),
        "met": sum(e.forecast_outcome == "met" for e in scored),
        "possible": sum(e.forecast_outcome == "possible" for e in scored),
        "missed": sum(e.forecast_outcome == "missed" for e in scored),
        "mean_error_pp": sum(errors) / len(errors) if errors else None,
    }


def history_json(entries: list[Entry], warnings: list[str]) -> Json:
    """For `--json`."""
    return {
        "format": 1,
        "entries": [asdict(entry) for entry in entries],
        "forecasts": forecast_score(entries),
        "warnings": warnings,
    }


def history_text(entries: list[Entry]) -> str:
    """A table for the terminal, and the forecasts' score below it."""
    if not entries:
        return "No results.\n"
    rows = [["DATE", "PHASE/RUN", "BOX", "WORKLOAD", "VERDICT", "DELTA", "FORECAST"]]
    for e in entries:
        change = "–" if e.delta_pct is None else f"{signed(e.delta_pct)} %"
        if e.delta_pct is not None and len(e.ci95_pct or []) == 2:
            change += f" [{span(e.ci95_pct)}] n={e.n}"
        forecast = e.forecast_outcome
        if e.forecast_low is not None and e.forecast_high is not None:
            forecast += f" ({span((e.forecast_low, e.forecast_high), 1)} %)"
        box = e.box or "–"
        if e.values and len(e.values) == 2:
            box += f" {e.values[0]}→{e.values[1]}"
        word = e.decision + (" A/A" if e.is_aa else "")
        rows.append([e.started[:10] or "–", e.path, box, e.workload, word, change, forecast])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows]
    scored = forecast_score(entries)
    lines += ["", f"{count(len(entries), 'result')}. " + _score_text(scored)]
    return "\n".join(lines) + "\n"


def _score_text(score: Json) -> str:
    if not score["scored"]:
        return "No forecast has been scored."
    text = (
        f"Forecasts: {score['met']} met, {score['possible']} possible, {score['missed']} missed of "
        f"{score['scored']}"
    )
    if score["mean_error_pp"] is not None:
        text += f"; measured minus forecast middle {signed(score['mean_error_pp'])} pp on average"
    return text + "."
