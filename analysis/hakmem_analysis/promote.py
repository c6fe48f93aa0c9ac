"""`hak promote`: a default changes only with evidence and with a fresh confirmation in libhakmem.so.

The estimate of a GO that was picked among many is too high (the winner's curse), and the lab library
is not what people use. So the change is measured a second time, in another session with other seeds,
as libhakmem.so with the new default against libhakmem.so with the old one.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from .errors import AnalysisError
from .files import Json, dump_json, write_text
from .layout_evidence import check_layouts, needs_layouts, newest_layouts
from .load import Run, load_run
from .machines import require_alike
from .promoted_build import Promotion, build_promoted, changed_registry
from .registry import LIST, BoxEntry, program, write_registry
from .verdict import Verdict, headline, judge_run

KEPT = (
    "workloads",
    "metric",
    "neutral_threshold_pct",
    "guards",
    "void_limits",
    "timeout_seconds",
    "min_seconds",
)


def _refuse(run: Run, what: str, advice: str) -> AnalysisError:
    return AnalysisError(str(run.path), what, advice)


def _judged(run: Run, is_forced: bool) -> Verdict:
    """The verdict from the samples as they are now. AnalysisError where it is no GO."""
    require_alike([run], is_forced)
    if "experiment.json was edited after the run" in run.warnings:
        raise _refuse(run, "its experiment was edited after the run", "run it again")
    if run.status != "complete":
        raise _refuse(run, f"the run is {run.status}", "complete it with hak run --resume")
    verdict = judge_run(run)
    if not verdict.decision.is_go:
        raise _refuse(run, f"its decision is {verdict.decision_text}", "only a GO promotes a box")
    return verdict


def check_evidence(box: BoxEntry, run: Run, is_forced: bool) -> Promotion:
    """The change that a result speaks for. AnalysisError where it does not speak for one."""
    plan = run.plan
    if plan.box != box.env or plan.values is None:
        raise _refuse(run, f"it is about {plan.box or 'no single box'}", f"measure {box.env}")
    old, new = int(plan.values[0]), int(plan.values[1])
    if old != box.default:
        raise _refuse(
            run,
            f"its baseline is {box.env}={old}, the default is {box.default}",
            "measure against the default",
        )
    for name, value in plan.baseline.boxes.items():
        defaults = _defaults_of(run, plan.baseline.name, name) - {None}
        if name != box.env and defaults and defaults != {int(value)}:
            raise _refuse(
                run, f"both arms had {name}={value}, which is no default", "measure without it"
            )
    _judged(run, is_forced)
    return Promotion(box, old, new, run)


def _defaults_of(run: Run, arm: str, env: str) -> set[Any]:
    """The defaults that the library of an arm reported of itself."""
    rows = run.samples[run.samples["arm"] == arm]
    found = set()
    for proof in rows["proof"]:
        report = proof.get("report") if isinstance(proof, dict) else None
        entry = ((report or {}).get("boxes") or {}).get(env)
        found.add(entry.get("default") if isinstance(entry, dict) else None)
    return found


def check_confirmation(change: Promotion, run: Run, is_forced: bool) -> Verdict:
    """The verdict of the second result. AnalysisError where it is not fresh, not of libhakmem.so with
    the two defaults, of another workload or machine, or no GO."""
    evidence = change.evidence
    old_start, new_start = (str(r.manifest.get("started") or "") for r in (evidence, run))
    if run.path.resolve() == evidence.path.resolve() or new_start <= old_start:
        raise _refuse(run, "it is not younger than the evidence", "measure afresh")
    require_alike([evidence, run], is_forced)
    cells = [(r.plan.primary.workload, r.plan.primary.params) for r in (evidence, run)]
    if cells[0] != cells[1]:
        raise _refuse(run, "its deciding cell is another one", "confirm what the evidence measured")
    arms = ((run.plan.baseline.name, change.old), (run.plan.treatments[0].name, change.new))
    for arm, wanted in arms:
        found = _defaults_of(run, arm, change.box.env)
        if found != {wanted}:
            shown = ", ".join(sorted(map(str, found))) or "nothing"
            raise _refuse(
                run,
                f"the library of arm {arm} has the default {shown} of {change.box.env}, not {wanted}",
                "confirm with libhakmem.so of both defaults",
            )
    return _judged(run, is_forced)


def confirmation_experiment(change: Promotion, experiment: Json, library: str) -> Json:
    """The experiment that confirms: the evidence's cells and guards, other seeds."""
    box, evidence = change.box, change.evidence.plan
    seeds = [int(seed) + 1000 for seed in experiment.get("seeds") or [42, 43]]
    plan = {
        "phase": f"{evidence.phase}-confirm",
        "title": f"Confirmation in libhakmem.so: {box.env}={change.new} as the default",
        "hypothesis": box.hypothesis,
        "forecast": experiment.get("forecast") or {"low": 0, "high": 0},
        "arms": [
            {"name": "old", "library": "standard", "env": {box.env: str(change.old)}},
            {"name": "new", "library": library, "env": {box.env: str(change.new)}},
        ],
        "seeds": seeds,
    }
    plan.update({key: experiment[key] for key in KEPT if key in experiment})
    plan["workloads"] = [_as_written(entry) for entry in experiment["workloads"]]
    if experiment.get("until_decided"):
        plan.update(until_decided=True, looks=experiment.get("looks"))
    else:
        plan["runs"] = evidence.runs
    return plan


def _as_written(cell: Json) -> Json:
    """A cell of the manifest as a workload of an experiment file."""
    kept = ("name", "params", "command", "process", "metric_from", "threads", "primary")
    entry = {key: cell[key] for key in kept if key in cell}
    if "command" not in entry:
        entry.pop("threads", None)
    return entry


def confirm(root: Path, change: Promotion, results: Path) -> Path:
    """Measures the confirmation with `hak run` and gives its folder."""
    library = build_promoted(root, change)
    experiment = change.evidence.manifest["experiment"]
    plan = confirmation_experiment(change, experiment, str(library.relative_to(root)))
    file = root / "build" / "promote" / change.box.id / "experiment.json"
    write_text(file, dump_json(plan))
    phase = results / plan["phase"].lower()
    before = set(phase.glob("*")) if phase.is_dir() else set()
    done = subprocess.run(
        [program(), "run", str(file), "--results", str(results), "--yes"], check=False
    )
    made: list[Path] = sorted(set(phase.glob("*")) - before) if phase.is_dir() else []
    if done.returncode != 0 or not made:
        raise AnalysisError(
            str(file),
            f"the confirmation ended with code {done.returncode}",
            "mend the cause, or name a finished one with --confirmation DIR",
        )
    return made[-1]


def promote(
    root: Path,
    box: BoxEntry,
    evidence: Path,
    confirmation: Path | None,
    layout: Path | None,
    results: Path,
    is_forced: bool,
) -> str:
    """Checks, confirms, changes boxes.def and docs/boxes.md. Gives what to tell the person."""
    change = check_evidence(box, load_run(evidence), is_forced)
    layouts = ""
    if needs_layouts(box):
        found = layout or newest_layouts(box, results)
        report = check_layouts(box, change.new, change.evidence, found, is_forced)
        layouts = f"layouts: {found}: {report.effect.text()}\n"
    folder = confirmation or confirm(root, change, results)
    verdict = check_confirmation(change, load_run(folder), is_forced)
    write_registry(root, changed_registry(root, change))
    return (
        f"{box.env}: the default is {change.new} now, it was {change.old} ({LIST}, docs/boxes.md)\n"
        f"evidence: {evidence}\n{layouts}confirmed: {folder}: {headline(verdict)}\n"
    )
