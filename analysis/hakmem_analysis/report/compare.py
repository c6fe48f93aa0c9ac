"""report.md, compare.json and plots of a sweep over libraries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ..call_paths import call_paths
from ..files import Json, dump_json, write_text
from ..load import Run
from ..plan import Arm, Cell
from ..proof import arm_proof
from ..sweep import NO_RUN, Ratio, Sweep, read_sweep, sweep_json
from ..units import count, plain, signed, span, unit_of
from .compare_plots import Point, heat_map, means_plot, trade_plot
from .environment import environment
from .latency import path_row
from .render import FOOTER, fill
from .style import save


@dataclass(frozen=True)
class CompareReport:
    """text: report.md; record: compare.json; figures: plots by file name."""

    headline: str
    text: str
    record: Json
    figures: dict[str, Figure]

    def write(self, folder: Path) -> None:
        """Writes report.md, compare.json and plots/*.svg into `folder`, each in one step."""
        for name, figure in self.figures.items():
            save(figure, folder / "plots" / name)
        write_text(folder / "compare.json", dump_json(self.record))
        write_text(folder / "report.md", self.text)


def report_of_sweep(run: Run) -> CompareReport:
    """Analyses a folder of `hak compare`. Writes nothing."""
    sweep = read_sweep(run)
    figures = _figures(sweep)
    context = {
        "title": run.plan.title,
        "headline": sweep.headline(),
        "header": _header(sweep),
        "notices": [str(text) for text in run.manifest.get("notices") or []],
        "ours": sweep.ours.name,
        "gates": [[gate.name, f"**{gate.state}**", gate.text] for gate in sweep.gates()],
        "plots": {name: f"plots/{name}.svg" for name in ("heat", "means", "trade")},
        "has": {name: f"{name}.svg" in figures for name in ("heat", "means", "trade")},
        "means": _means(sweep),
        "arms": [arm.name for arm in run.plan.arms],
        "throughput": _throughput(sweep),
        "latency": _latency(sweep),
        "paths": _paths(sweep),
        "memory": _memory(sweep, "peak_rss_kib"),
        "final": _memory(sweep, "final_rss_kib"),
        "failures": sweep.failures(),
        "proof": _proof(sweep),
        "environment": environment(run),
        "warnings": [*run.warnings, *sweep.selection.warnings],
        "voids": len(sweep.selection.void),
        "footer": FOOTER,
    }
    text = fill("compare.md.j2", context)
    return CompareReport(sweep.headline(), text, sweep_json(sweep), figures)


def _header(sweep: Sweep) -> list[tuple[str, str]]:
    run, plan = sweep.run, sweep.run.plan
    started = str(run.manifest.get("started") or "not recorded")
    libraries = ", ".join(arm.name for arm in sweep.others)
    timed = len(plan.cells) - len(sweep.cells)
    extent = f"{count(len(sweep.cells), 'cell')} × {count(len(plan.arms), 'library', 'libraries')}"
    seconds = (run.manifest.get("experiment") or {}).get("min_seconds")
    extent += f" × {count(plan.runs, 'block')} of {seconds} s in random order"
    if timed:
        extent += f"; {count(timed, 'cell')} more with timed calls"
    rows = [("Against", libraries), ("Extent", extent)]
    rows.append(("Date", f"{started.replace('T', ' ').replace('Z', ' UTC')}, run {plan.run}"))
    if run.status != "complete":
        rows.append(
            (
                "Status",
                f"**{run.status}**: what follows is of the blocks that are there",
            )
        )
    if plan.forecast is not None:
        rows.append(("Forecast", _forecast(sweep, plan.forecast.low, plan.forecast.high)))
    return rows


def _forecast(sweep: Sweep, low: float, high: float) -> str:
    text = f"geometric mean {span((low, high), 0)} % against mimalloc"
    arm = next((arm for arm in sweep.peers if arm.name == "mimalloc"), None)
    ratio, left_out = sweep.mean_ratio(arm) if arm else (None, [])
    if ratio is None:
        return text + "; not measured"
    if left_out or ratio.low is None:
        return text + "; not scored: cells or blocks are missing"
    found = 100.0 * (ratio.value - 1.0)
    word = "met" if low <= found <= high else "missed"
    return f"{text}; {word}: {signed(found)} %"


def _ends(ratio: Ratio, digits: int = 3) -> str:
    if ratio.low is None or ratio.high is None:
        return "–"
    return f"{ratio.low:.{digits}f}…{ratio.high:.{digits}f}"


def _means(sweep: Sweep) -> list[list[str]]:
    rows = []
    for arm in sweep.others:
        ratio, left_out = sweep.mean_ratio(arm)
        value = f"{ratio.value:.3f} ×" if ratio else "–"
        ends, n = (_ends(ratio), str(ratio.n)) if ratio else ("–", "0")
        rows.append([arm.name, value, ends, n, _without_best(sweep, arm)])
        rows[-1].append(", ".join(left_out) or "–")
    return rows


def _without_best(sweep: Sweep, arm: Arm) -> str:
    """The geometric mean without the cell that raises it most."""
    best = sweep.best_cell(arm)
    rest = sweep.mean_ratio(arm, best[0])[0] if best else None
    return f"{rest.value:.3f} × (without {best[0].name})" if best and rest else "–"


def _shown(sweep: Sweep, cell: Cell, arm: Arm, value: float | None, text: str) -> str:
    if sweep.problems(cell, arm) not in ([], [NO_RUN]):
        return "failed"
    return "–" if value is None else text


def _throughput(sweep: Sweep) -> list[list[str]]:
    rows = []
    unit = unit_of(sweep.run.plan.metric)
    for cell in sweep.cells:
        row = [cell.name]
        for arm in sweep.run.plan.arms:
            value = sweep.median(cell, arm, sweep.run.plan.metric)
            digits = 2 if value is not None and value * unit.scale >= 1 else 5
            shown = plain((value or 0.0) * unit.scale, digits)
            row.append(_shown(sweep, cell, arm, value, shown))
        best = sweep.best_peer(cell)
        row += [f"{best[1].value:.3f} × {best[0].name}", _ends(best[1])] if best else ["–", "–"]
        rows.append(row)
    return rows


def _latency(sweep: Sweep) -> list[list[str]]:
    rows = []
    for cell in sweep.cells:
        timed = sweep.timed(cell)
        if timed is None:
            continue
        row = [cell.name]
        for arm in sweep.run.plan.arms:
            value = sweep.median(timed, arm, "latency_ns.p99")
            row.append(_shown(sweep, timed, arm, value, plain(value or 0.0, 0)))
        rows.append(row)
    return rows


def _paths(sweep: Sweep) -> list[list[str]]:
    """Where the timed calls of ours went, a row a cell."""
    rows = []
    for cell in sweep.cells:
        timed = sweep.timed(cell)
        if timed is None or sweep.problems(timed, sweep.ours):
            continue
        valid = sweep.selection.valid
        mine = (valid["cell"] == timed.name) & (valid["arm"] == sweep.ours.name)
        times = call_paths(valid[mine])
        if times is not None and times.paths:
            rows.append([cell.name, *path_row(times)])
    return rows


def _memory(sweep: Sweep, metric: str) -> list[list[str]]:
    rows = []
    for cell in sweep.cells:
        row = [cell.name]
        for arm in sweep.run.plan.arms:
            value = sweep.memory(cell, arm, metric)
            row.append(_shown(sweep, cell, arm, value, plain((value or 0.0) / 1024.0, 2)))
        mine, least = sweep.memory(cell, sweep.ours), sweep.smallest_peer(cell)
        if metric == "peak_rss_kib":
            row.append(f"{mine / least[1]:.2f} × {least[0].name}" if mine and least else "–")
        if set(row[1:]) - {"–"}:
            rows.append(row)
    return rows


def _proof(sweep: Sweep) -> list[list[str]]:
    rows = []
    for arm in sweep.run.plan.arms:
        known = arm_proof(sweep.run, arm)
        rows.append(
            [
                f"{arm.name} ({arm.library})" if arm.name != arm.library else arm.name,
                f"{known.ok} of {known.total}",
                known.mapped or ("none preloaded" if arm.library == "glibc" else "–"),
                f"`{known.sha256[:12]}`" if known.sha256 else "–",
                f"`{known.build_id[:12]}`" if known.build_id else "–",
            ]
        )
    return rows


def _figures(sweep: Sweep) -> dict[str, Figure]:
    figures = {}
    names = [arm.name for arm in sweep.others]
    percents: list[list[float | None]] = []
    for cell in sweep.cells:
        ratios = [sweep.ratio(cell, arm) for arm in sweep.others]
        percents.append([100.0 * ratio.value if ratio else None for ratio in ratios])
    if any(value is not None for row in percents for value in row):
        cells = [cell.name for cell in sweep.cells]
        figures["heat.svg"] = heat_map(cells, names, percents, sweep.ours.name)
    means = [(arm.name, sweep.mean_ratio(arm)[0]) for arm in sweep.others]
    known = [(name, r.value, r.low, r.high) for name, r in means if r is not None]
    if known:
        figures["means.svg"] = means_plot(known, sweep.ours.name)
    reference = next((arm for arm in sweep.others if arm.name == "mimalloc"), sweep.others[0])
    points = [p for arm in sweep.run.plan.arms if (p := _point(sweep, arm, reference))]
    if len(points) > 1:
        figures["trade.svg"] = trade_plot(points, reference.name)
    return figures


def _point(sweep: Sweep, arm: Arm, reference: Arm) -> Point | None:
    """Medians of throughput and peak RSS against the reference's, over the cells where both have
    them."""
    cells = []
    for cell in sweep.cells:
        metric = sweep.run.plan.metric
        speeds = [sweep.median(cell, one, metric) for one in (arm, reference)]
        sizes = [sweep.memory(cell, one) for one in (arm, reference)]
        if speeds[0] and speeds[1] and sizes[0] and sizes[1]:
            cells.append((speeds[0] / speeds[1], sizes[0] / sizes[1]))
    if not cells:
        return None
    speed, size = (float(x) for x in np.exp(np.log(np.array(cells)).mean(axis=0)))
    return Point(arm.name, arm is sweep.ours, speed, size, cells if arm is sweep.ours else [])
