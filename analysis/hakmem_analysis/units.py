"""Numbers as people read them: units of metrics, signs, intervals."""

from __future__ import annotations

from dataclasses import dataclass

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Unit:
    """How a metric is shown: value·scale, `digits` after the point, then `name`; `label` is the
    metric in words."""

    metric: str
    label: str
    name: str
    scale: float
    digits: int

    def show(self, value: float | None, with_unit: bool = False) -> str:
        """The value as text; a dash where there is none."""
        if value is None:
            return "–"
        text = plain(value * self.scale, self.digits)
        return f"{text} {self.name}" if with_unit and self.name else text


_KNOWN = {
    "ops_per_s": Unit("ops_per_s", "throughput", "M ops/s", 1e-6, 3),
    "ns_per_op": Unit("ns_per_op", "time per operation", "ns/op", 1.0, 3),
    "wall_s": Unit("wall_s", "wall time", "s", 1.0, 4),
    "user_s": Unit("user_s", "user time", "s", 1.0, 4),
    "system_s": Unit("system_s", "system time", "s", 1.0, 4),
    "peak_rss_kib": Unit("peak_rss_kib", "peak RSS", "MiB", 1.0 / 1024.0, 2),
    "final_rss_kib": Unit("final_rss_kib", "final RSS", "MiB", 1.0 / 1024.0, 2),
    "minor_faults": Unit("minor_faults", "minor faults", "faults", 1.0, 0),
    "major_faults": Unit("major_faults", "major faults", "faults", 1.0, 0),
    "instructions": Unit("instructions", "instructions", "M", 1e-6, 3),
    "cycles": Unit("cycles", "cycles", "M", 1e-6, 3),
}


def unit_of(metric: str, name: str | None = None) -> Unit:
    """The unit of a metric; `name` is the unit that raw data bring with them."""
    if name == "per second":
        return Unit(metric, metric.replace("_", " "), "M/s", 1e-6, 3)
    if name is not None:
        return Unit(metric, metric.replace("_", " "), name, 1.0, 3)
    if metric in _KNOWN:
        return _KNOWN[metric]
    if metric.startswith("latency_ns."):
        return Unit(metric, f"latency {metric.split('.', 1)[1]}", "ns", 1.0, 0)
    return Unit(metric, metric.replace("_", " "), "", 1.0, 3)


def plain(value: float, digits: int) -> str:
    """Fixed digits with a real minus sign; four significant digits from a thousand million on."""
    text = f"{value:.{digits}f}" if abs(value) < 1e9 else f"{value:.3e}"
    if text.startswith("-"):
        text = text[1:] if float(text) == 0.0 else MINUS + text[1:]
    return text


def signed(value: float | None, digits: int = 2) -> str:
    """As plain, with a plus sign before what is above 0; a dash for None."""
    if value is None:
        return "–"
    text = plain(value, digits)
    return "+" + text if not text.startswith(MINUS) and float(text) != 0.0 else text


def span(pair: tuple[float, float] | list[float] | None, digits: int = 2) -> str:
    """An interval: −2.50…+1.12."""
    if pair is None:
        return "–"
    return f"{signed(pair[0], digits)}…{signed(pair[1], digits)}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """ "1 block", "10 blocks"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
