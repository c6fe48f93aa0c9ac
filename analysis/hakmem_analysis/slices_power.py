"""How often slices mode finds a slowdown of known size: `hak slices-power` calibrates the box burn,
repeats the experiment, and reads the verdicts. It measures: nothing else should run meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from scipy import stats

from .errors import AnalysisError
from .files import read_json
from .units import signed, span


@dataclass(frozen=True)
class Outcome:
    """One repetition: the evidence's estimate and 95 % interval in %, and the decision."""

    delta_pct: float
    ci95_pct: tuple[float, float]
    decision: str

    @property
    def found(self) -> bool:
        """Whether the slowdown was seen: the interval lies below 0, and the result is valid."""
        return self.decision != "INVALID" and self.ci95_pct[1] < 0.0


def _hak(arguments: Sequence[str]) -> str:
    """Runs `hak` and gives its stdout; AnalysisError with its last line where it fails."""
    program = os.environ.get("HAK_PROGRAM")
    if not program:
        raise AnalysisError("slices-power", "HAK_PROGRAM is not set", "type: hak slices-power")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 12):
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise AnalysisError(f"hak {arguments[0]}", last, "see hak help")
    return done.stdout


def _with_slices(file: Path, seconds: float, processes: int) -> None:
    """Gives the experiment that `hak burn` wrote the wanted slices. Its first line is a comment."""
    head, _, body = file.read_text(encoding="utf-8").partition("\n")
    content = json.loads(body)
    content["mode"] = "slices"
    content["slices"] = {"processes": processes, "seconds": seconds}
    # What disturbs a process disturbs both arms: the slices, not the harness, deal with it.
    content["void_limits"] = {"steal_pct": 100, "foreign_load_pct": 100}
    file.write_text(head + "\n" + json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_outcome(folder: Path) -> Outcome:
    """From the verdict.json of a result. AnalysisError where it has no interval."""
    verdict = read_json(folder / "verdict.json")
    evidence = verdict.get("evidence") or {}
    interval = evidence.get("ci95_pct")
    if not interval:
        reasons = verdict.get("invalid_reasons") or ["no interval"]
        raise AnalysisError(str(folder), f"no estimate ({reasons[0]})", "look at its report.md")
    low, high = interval
    return Outcome(float(evidence["delta_pct"]), (low, high), str(verdict.get("decision")))


def measure(
    percent: float, times: int, seconds: float, workload: Sequence[str], say: Callable[[str], None]
) -> list[Outcome]:
    """Calibrates once and repeats the experiment `times` times, six processes that share `seconds`
    of slices each time. `say` gets a line a repetition."""
    processes = 6
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="hak-slices-power-") as name:
        folder = Path(name)
        say(_hak(["burn", *workload, "--percent", f"{percent:g}", "--out", name]).strip())
        file = next(folder.glob("burn_*.json"))
        _with_slices(file, seconds / processes, processes)
        for number in range(times):
            results = folder / f"results-{number}"
            _hak(["run", str(file), "--results", str(results), "--yes"])
            outcome = read_outcome(next(results.glob("*/*")))
            outcomes.append(outcome)
            say(f"{number + 1}/{times}: {line_of(outcome)}")
    return outcomes


def line_of(outcome: Outcome) -> str:
    """One repetition for people."""
    seen = "found" if outcome.found else "not found"
    interval = f"95 % {span(outcome.ci95_pct)} %"
    return f"{signed(outcome.delta_pct)} % ({interval}): {outcome.decision}, {seen}"


def table(percent: float, seconds: float, outcomes: Sequence[Outcome]) -> str:
    """The Markdown table of all repetitions and the share that found it, with its exact 95 %
    interval."""
    count = sum(outcome.found for outcome in outcomes)
    share = stats.binomtest(count, len(outcomes)).proportion_ci(0.95, "exact")
    lines = [
        f"# Slices: a slowdown of {percent:g} % in {seconds:g} s",
        "",
        f"Found in {count} of {len(outcomes)} repetitions "
        f"({100 * share.low:.0f}…{100 * share.high:.0f} %, 95 % interval).",
        "",
        "| # | estimate (%) | 95 % interval (%) | decision | found |",
        "|---|---|---|---|---|",
    ]
    for number, outcome in enumerate(outcomes, 1):
        found = "yes" if outcome.found else "no"
        lines.append(
            f"| {number} | {signed(outcome.delta_pct)} | {span(outcome.ci95_pct)} | "
            f"{outcome.decision} | {found} |"
        )
    return "\n".join(lines) + "\n"
