"""Scoring a forecast against what was measured."""

from __future__ import annotations

from dataclasses import dataclass

from .evidence import Evidence
from .files import Json
from .plan import Forecast
from .stats.decide import Word


@dataclass(frozen=True)
class Score:
    """outcome: "met" (the estimate lies inside), "possible" (only the interval reaches it), "missed",
    "none" (no forecast) or "unknown" (nothing measured)."""

    low: float | None
    high: float | None
    outcome: str
    text: str

    def to_json(self) -> Json:
        """As in verdict.json."""
        return {
            "low": self.low,
            "high": self.high,
            "outcome": self.outcome,
            "text": self.text,
        }


def score(forecast: Forecast | None, evidence: Evidence, is_aa: bool = False) -> Score:
    """Holds the estimate and its 95 % interval against the forecast range, all in %."""
    if forecast is None:
        return Score(None, None, "none", "no forecast was stated")
    low, high = forecast.low, forecast.high
    if is_aa:
        return Score(low, high, "unknown", "both arms are the same, which tests no forecast")
    delta, interval = evidence.delta_pct, evidence.ci95_pct
    if delta is None or evidence.verdict is Word.INVALID:
        return Score(low, high, "unknown", "nothing valid was measured")
    if interval is None:
        return Score(low, high, "unknown", "not enough runs")
    if low <= delta <= high:
        return Score(low, high, "met", "the estimate lies inside the forecast")
    side = "below" if delta < low else "above"
    if interval[0] <= high and interval[1] >= low:
        text = f"the estimate lies {side} the forecast, the 95 % interval reaches it"
        return Score(low, high, "possible", text)
    return Score(low, high, "missed", f"the measurement lies {side} the forecast")
