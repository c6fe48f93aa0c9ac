"""A sweep of libraries over many workloads: ratios, geometric means with intervals, memory, and
whether the figures that the allocator must reach are reached."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from .blocks import Array, Pairs, Selection, log_differences, pairs, select, table
from .errors import AnalysisError
from .files import FORMAT, Json
from .load import Run
from .plan import Arm, Cell
from .proof import arm_problems
from .stats import intervals

NO_RUN = "no valid run"  # what arm_problems() says of an arm that has none and did not fail
MUST_BEAT = 1.10  # × mimalloc, geometric mean
PEERS = (
    "glibc",
    "mimalloc",
    "jemalloc",
    "tcmalloc",
)  # the libraries that figures are set against
LEAST_OF_BEST = 0.97  # of the best peer, in every cell
MEMORY_SHARE, MEMORY_KIB = (
    1.05,
    512.0,
)  # allowed above the smallest peer: the larger of the two
MEMORY_LIMIT = 1.15  # never above this many times the smallest peer
MEMORY_CELLS = 15 / 18  # share of cells that keep the allowance


@dataclass(frozen=True)
class Ratio:
    """How many times `value` ours is of another's; the 95 % interval where n ≥ 2."""

    value: float
    low: float | None
    high: float | None
    n: int

    def to_json(self) -> Json:
        """As in compare.json."""
        ends = None if self.low is None or self.high is None else [self.low, self.high]
        return {"ratio": self.value, "ci95": ends, "n": self.n}


@dataclass(frozen=True)
class Gate:
    """A figure to reach. state: met, missed, or open where it could not be judged."""

    name: str
    state: str
    text: str

    def to_json(self) -> Json:
        """As in compare.json."""
        return {"name": self.name, "state": self.state, "text": self.text}


def ratio_of(logs: Array) -> Ratio:
    """From log differences of blocks; at least one."""
    if len(logs) < 2:
        return Ratio(float(np.exp(logs.mean())), None, None, len(logs))
    estimate = intervals.paired(logs)
    low, high = intervals.t_interval(estimate, 0.05)
    mean, below, above = (float(np.exp(x)) for x in (estimate.mean, low, high))
    return Ratio(mean, below, above, len(logs))


class Sweep:
    """A result folder read as a sweep. `ours` is the first treatment; all other arms are others."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.selection: Selection = select(run)
        self.ours: Arm = run.plan.treatments[0]
        self.others = [arm for arm in run.plan.arms if arm is not self.ours]
        self.peers = [arm for arm in self.others if arm.name in PEERS]

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells whose throughput counts: those that time no calls."""
        return [cell for cell in self.run.plan.cells if not cell.params.get("latency")]

    def timed(self, cell: Cell) -> Cell | None:
        """The cell that does the same with its calls timed."""
        for other in self.run.plan.cells:
            params = {k: v for k, v in other.params.items() if k != "latency"}
            if other.params.get("latency") and other.workload == cell.workload:
                if params == cell.params:
                    return other
        return None

    def problems(self, cell: Cell, arm: Arm) -> list[str]:
        """Why the values of an arm in a cell do not count; empty where they do."""
        return self._problems.get((cell.name, arm.name), [])

    @cached_property
    def _problems(self) -> dict[tuple[str, str], list[str]]:
        found = {}
        for cell in self.run.plan.cells:
            for arm in self.run.plan.arms:
                texts = arm_problems(self.run, self.selection, cell.name, arm)
                if texts:
                    found[cell.name, arm.name] = [t.removeprefix(f"{arm.name}: ") for t in texts]
        return found

    def values(self, cell: Cell, arm: Arm, metric: str) -> pd.Series:
        """Valid values by block; empty where the arm failed in the cell."""
        frame = table(self.selection, cell.name, metric)
        if arm.name not in frame.columns or self.problems(cell, arm):
            return pd.Series(dtype=float)
        return frame[arm.name].dropna()

    def median(self, cell: Cell | None, arm: Arm, metric: str) -> float | None:
        """None where nothing counts."""
        values = self.values(cell, arm, metric) if cell is not None else pd.Series(dtype=float)
        return float(values.median()) if len(values) else None

    def logs(self, cell: Cell, other: Arm) -> pd.Series:
        """ln(ours/other) of the throughput by block; positive: ours is better."""
        if self.problems(cell, self.ours) or self.problems(cell, other):
            return pd.Series(dtype=float)
        frame = table(self.selection, cell.name, self.run.plan.metric)
        pair: Pairs = pairs(frame, other.name, self.ours.name)
        return pd.Series(log_differences(pair, self.run.plan.sign), index=pair.blocks)

    def ratio(self, cell: Cell, other: Arm) -> Ratio | None:
        """Ours against another library in one cell."""
        logs = self.logs(cell, other)
        return ratio_of(logs.to_numpy()) if len(logs) else None

    def best_cell(self, other: Arm) -> tuple[Cell, Ratio] | None:
        """The cell in which ours is furthest ahead of another library."""
        found = [(cell, ratio) for cell in self.cells if (ratio := self.ratio(cell, other))]
        return max(found, key=lambda item: item[1].value) if found else None

    def mean_ratio(self, other: Arm, without: Cell | None = None) -> tuple[Ratio | None, list[str]]:
        """Geometric mean over the cells but `without`, and the cells that could not enter it. The
        blocks are the sample: a block's value is the mean over all cells, so what cells share
        cancels nowhere."""
        cells = [cell for cell in self.cells if cell is not without]
        by_cell = {cell.name: self.logs(cell, other) for cell in cells}
        left_out = [name for name, logs in by_cell.items() if logs.empty]
        frame = pd.DataFrame({name: logs for name, logs in by_cell.items() if len(logs)})
        if frame.empty:
            return None, left_out
        whole = frame.dropna()
        if len(whole) < 2:
            return (
                Ratio(float(np.exp(frame.mean().mean())), None, None, len(whole)),
                left_out,
            )
        return ratio_of(whole.mean(axis=1).to_numpy()), left_out

    def best_peer(self, cell: Cell) -> tuple[Arm, Ratio] | None:
        """The fastest of the peers in a cell, and ours against it."""
        found = [(arm, ratio) for arm in self.peers if (ratio := self.ratio(cell, arm))]
        return min(found, key=lambda item: item[1].value) if found else None

    def memory(self, cell: Cell, arm: Arm, metric: str = "peak_rss_kib") -> float | None:
        """Median in KiB."""
        return self.median(cell, arm, metric)

    def smallest_peer(self, cell: Cell) -> tuple[Arm, float] | None:
        """The peer with the least peak RSS in a cell, in KiB."""
        found = [(arm, kib) for arm in self.peers if (kib := self.memory(cell, arm)) is not None]
        return min(found, key=lambda item: item[1]) if found else None

    def failures(self) -> list[str]:
        """One line a cell and library that failed, with the reason; one for a cell that has no
        valid run of any library."""
        empty = [cell.name for cell in self.run.plan.cells if not self.has_runs(cell)]
        lines = [
            f"{arm} in {cell}: {'; '.join(texts)}"
            for (cell, arm), texts in self._problems.items()
            if cell not in empty
        ]
        return lines + [f"no library in {cell}: no valid run" for cell in empty]

    def has_runs(self, cell: Cell) -> bool:
        """Whether any library has a valid run in a cell, or one that failed."""
        return any(self.problems(cell, arm) != [NO_RUN] for arm in self.run.plan.arms)

    def gates(self) -> list[Gate]:
        """The figures of throughput and memory; open where the data cannot say."""
        gates = [self._mean_gate(name) for name in PEERS]
        return [*gates, self._cells_gate(), *self._memory_gates()]

    def _mean_gate(self, name: str) -> Gate:
        bound, word = (MUST_BEAT, "at least") if name == "mimalloc" else (1.0, "above")
        title = f"geometric mean {word} {bound:.2f} × {name}"
        arm = next((arm for arm in self.peers if arm.name == name), None)
        ratio, left_out = self.mean_ratio(arm) if arm else (None, [])
        if ratio is None:
            return Gate(title, "open", "not measured")
        if ratio.low is None or ratio.high is None:
            return Gate(title, "open", f"{ratio.value:.3f} ×: too few blocks for an interval")
        is_met = ratio.low >= bound if name == "mimalloc" else ratio.low > bound
        text = f"{ratio.value:.3f} × (95 % {ratio.low:.3f}…{ratio.high:.3f}); the lower end counts"
        if left_out:
            text += f"; without {', '.join(left_out)}"
            return Gate(title, "open" if is_met else "missed", text)
        return Gate(title, "met" if is_met else "missed", text)

    def _cells_gate(self) -> Gate:
        title = f"no cell below {LEAST_OF_BEST} × the best peer"
        below, unknown = [], []
        for cell in self.cells:
            best = self.best_peer(cell)
            if best is None or best[1].high is None:
                unknown.append(cell.name)
            elif best[1].high < LEAST_OF_BEST:
                below.append(f"{cell.name} ({best[1].value:.3f} × {best[0].name})")
        text = f"below in {len(below)} of {len(self.cells)} cells; the upper end of 95 % counts"
        if below:
            text += ": " + ", ".join(below)
        if unknown:
            text += "; not judged: " + ", ".join(unknown)
        state = "missed" if below else "open" if unknown else "met"
        return Gate(title, state, text)

    def _memory_gates(self) -> list[Gate]:
        above, beyond, unknown = [], [], []
        for cell in self.cells:
            least, mine = self.smallest_peer(cell), self.memory(cell, self.ours)
            if least is None or mine is None:
                unknown.append(cell.name)
                continue
            shown = f"{cell.name} ({mine / least[1]:.2f} × {least[0].name})"
            if mine > max(MEMORY_SHARE * least[1], least[1] + MEMORY_KIB):
                above.append(shown)
            if mine > MEMORY_LIMIT * least[1]:
                beyond.append(shown)
        total = len(self.cells)
        wanted = int(np.ceil(MEMORY_CELLS * total))
        kept = total - len(above) - len(unknown)
        lost = f"; not judged: {', '.join(unknown)}" if unknown else ""
        first = "met" if kept >= wanted else "missed" if total - len(above) < wanted else "open"
        second = "missed" if beyond else "open" if unknown else "met"
        return [
            Gate(
                f"peak RSS at most the smallest peer's + max(5 %, 512 KiB) in {wanted} of {total}",
                first,
                f"in {kept} of {total}" + (f"; above: {', '.join(above)}" if above else "") + lost,
            ),
            Gate(
                f"peak RSS never above {MEMORY_LIMIT} × the smallest peer's",
                second,
                (f"above: {', '.join(beyond)}" if beyond else "in no cell above") + lost,
            ),
        ]

    def headline(self) -> str:
        """One line: the geometric means and how many figures are reached."""
        parts = []
        for arm in self.others:
            ratio, _ = self.mean_ratio(arm)
            if ratio is not None:
                ends = "" if ratio.low is None else f" (95 % {ratio.low:.3f}…{ratio.high:.3f})"
                parts.append(f"{ratio.value:.3f} × {arm.name}{ends}")
        gates = self.gates()
        met = sum(gate.state == "met" for gate in gates)
        text = ", ".join(parts) or "nothing that counts was measured"
        entered = sum(any(self.ratio(cell, arm) for arm in self.others) for cell in self.cells)
        extent = f"{entered} of " if entered < len(self.cells) else ""
        return (
            f"{self.ours.name}, geometric mean of {extent}{len(self.cells)} cells: {text} · "
            f"{met} of {len(gates)} figures met"
        )


def read_sweep(run: Run) -> Sweep:
    """AnalysisError where the folder holds no sweep."""
    if run.plan.report != "compare":
        raise AnalysisError(str(run.path), "is no sweep of hak compare", "type: hak report")
    return Sweep(run)


def sweep_json(sweep: Sweep) -> Json:
    """The content of compare.json (docs/design/files.md)."""
    cells = []
    for cell in sweep.cells:
        arms = {}
        for arm in sweep.run.plan.arms:
            arms[arm.name] = {
                "ops_per_s": sweep.median(cell, arm, sweep.run.plan.metric),
                "latency_p99_ns": sweep.median(sweep.timed(cell), arm, "latency_ns.p99"),
                "peak_rss_kib": sweep.memory(cell, arm),
                "final_rss_kib": sweep.memory(cell, arm, "final_rss_kib"),
                "problems": sweep.problems(cell, arm),
            }
        ratios = {arm.name: sweep.ratio(cell, arm) for arm in sweep.others}
        shown = {name: ratio.to_json() for name, ratio in ratios.items() if ratio}
        cells.append(
            {
                "cell": cell.name,
                "workload": cell.workload,
                "arms": arms,
                "ratios": shown,
            }
        )
    means = {}
    for arm in sweep.others:
        ratio, left_out = sweep.mean_ratio(arm)
        if ratio is not None:
            means[arm.name] = {**ratio.to_json(), "without": left_out}
    return {
        "format": FORMAT,
        "phase": sweep.run.plan.phase,
        "run": sweep.run.plan.run,
        "started": sweep.run.manifest.get("started"),
        "commit": (sweep.run.manifest.get("git") or {}).get("commit"),
        "headline": sweep.headline(),
        "ours": sweep.ours.name,
        "min_seconds": (sweep.run.manifest.get("experiment") or {}).get("min_seconds"),
        "geometric_means": means,
        "gates": [gate.to_json() for gate in sweep.gates()],
        "cells": cells,
        "failures": sweep.failures(),
    }
