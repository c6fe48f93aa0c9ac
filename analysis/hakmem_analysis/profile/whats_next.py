"""What is left to try: candidates of the newest profiles, with their evidence and what has failed
before; boxes that were never measured; what the compiler could still give."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..counters import counters_per_op
from ..errors import AnalysisError
from ..files import FORMAT, Json, check_format, read_json
from ..history import Entry, read_history
from ..load import load_run
from ..units import count, plain, signed, span
from .candidates import known_boxes
from .ceilings import Ceiling, ceilings

FAILED = ("NO-GO", "NEUTRAL")
NEVER_RANKED = ("default-on", "archived")


@dataclass
class Idea:
    """One part of the time over all profiles. `gain_pct`: the greatest of them, of `target`."""

    subject: str
    kind: str
    gain_pct: float
    gain_ci95_pct: list[float]
    target: str
    is_cold: bool
    advice: str
    boxes: list[str]
    evidence: list[str] = field(default_factory=list)
    earlier: list[Entry] = field(default_factory=list)

    @property
    def failed(self) -> list[Entry]:
        return [entry for entry in self.earlier if entry.decision.startswith(FAILED)]

    def to_json(self) -> Json:
        return {
            "subject": self.subject,
            "kind": self.kind,
            "gain_pct": self.gain_pct,
            "gain_ci95_pct": self.gain_ci95_pct,
            "target": self.target,
            "advice": self.advice,
            "boxes": self.boxes,
            "evidence": self.evidence,
            "earlier": [_entry_json(entry) for entry in self.earlier],
        }


@dataclass
class WhatsNext:
    """All of it. `ideas`: greatest possible gain first, of equal gains what failed less often;
    `cold`: slow paths that stay as they are; `untried`: boxes without a result; `ceilings`: what
    `hak ceiling` found; `counters`: events per operation of the newest run that has some."""

    ideas: list[Idea]
    cold: list[Idea]
    untried: list[Json]
    ceilings: list[Ceiling]
    counters: list[str]
    warnings: list[str]

    def to_json(self) -> Json:
        return {
            "format": FORMAT,
            "candidates": [idea.to_json() for idea in self.ideas],
            "cold": [idea.to_json() for idea in self.cold],
            "untried": [box["env"] for box in self.untried],
            "ceilings": [
                {**_entry_json(one.entry), "comparisons": one.to_json()} for one in self.ceilings
            ],
            "counters": self.counters,
            "warnings": self.warnings,
        }


def _entry_json(entry: Entry) -> Json:
    return {
        "box": entry.box,
        "path": entry.path,
        "decision": entry.decision,
        "delta_pct": entry.delta_pct,
        "reason": entry.reason,
    }


def whats_next(results: Path) -> WhatsNext:
    """Reads the results folder. AnalysisError where it is none; a file that cannot be read is a
    warning."""
    history, warnings = read_history(results)
    ideas: dict[str, Idea] = {}
    for content in _newest_profiles(results, warnings):
        for entry in content["candidates"]:
            _merge(ideas, content, entry)
    for idea in ideas.values():
        idea.earlier = [entry for entry in history if entry.box in idea.boxes]
    ranked = sorted(ideas.values(), key=lambda i: (-i.gain_pct, len(i.failed), i.subject))
    tried = {entry.box for entry in history}
    return WhatsNext(
        [idea for idea in ranked if not idea.is_cold],
        [idea for idea in ranked if idea.is_cold],
        [
            box
            for box in known_boxes()
            if box.get("env") not in tried and box.get("status") not in NEVER_RANKED
        ],
        ceilings(results, history, warnings),
        _counters(results, history),
        warnings,
    )


def _newest_profiles(results: Path, warnings: list[str]) -> list[Json]:
    """The last profile of each target and arm."""
    newest: dict[tuple[str, str], Json] = {}
    for path in sorted(results.glob("profile/*/*/candidates.json")):
        try:
            content = read_json(path)
            check_format(content, str(path))
        except AnalysisError as error:
            warnings.append(str(error))
            continue
        content["path"] = str(path.parent.relative_to(results))
        newest[str(content["target"]), str(content["arm"])] = content
    return list(newest.values())


def _merge(ideas: dict[str, Idea], profile: Json, entry: Json) -> None:
    subject = str(entry["subject"])
    low, high = entry["ci95_pct"]
    target = f"{profile['target']}, {profile['arm']}"
    evidence = (
        f"{plain(entry['share_pct'], 1)} % ({plain(low, 1)}…{plain(high, 1)}) of the time of "
        f"{target} (results/{profile['path']})"
    )
    instructions = (profile.get("instructions") or {}).get(subject)
    if instructions is not None:
        evidence += f", {plain(instructions, 1)} instructions a call"
    known = ideas.get(subject)
    evidences = [evidence, *(known.evidence if known else [])]
    if known is not None and known.gain_pct >= entry["gain_pct"]:
        known.evidence = [*known.evidence, evidence]
        known.is_cold = known.is_cold and entry["is_cold"]
        return
    ideas[subject] = Idea(
        subject,
        str(entry["kind"]),
        float(entry["gain_pct"]),
        list(entry["gain_ci95_pct"]),
        target,
        bool(entry["is_cold"]) and (known is None or known.is_cold),
        str(entry["advice"]),
        list(entry["boxes"]),
        evidences,
    )


def _counters(results: Path, history: list[Entry]) -> list[str]:
    """Counters of the newest run whose machine had them, or why the newest has none."""
    runs = [entry for entry in history if entry.run != "card"]
    why = ["No run has counters."] if runs else []
    for entry in reversed(runs):
        try:
            run = load_run(results / entry.path)
        except AnalysisError:
            continue
        is_ok = (run.samples["status"] == "ok") & (
            run.samples["cell"] == run.samples["cell"].iloc[0]
        )
        arms = [str(arm) for arm in run.samples["arm"].unique()]
        found = counters_per_op(run.samples[is_ok], arms)
        counted = [item for item in found if item.value is not None]
        if counted:
            return [
                f"{item.counter} of {item.arm}: {plain(item.value or 0.0, 3)} per op "
                f"(results/{entry.path})"
                for item in counted
            ]
        if found:
            why = [f"No hardware counters: {found[0].reason} (results/{entry.path})."]
    return why


def whats_next_text(found: WhatsNext) -> str:
    """For the terminal."""
    lines = []
    if not found.ideas and not found.cold:
        lines.append("No profile yet; type: ./hak profile experiments/quickstart.json")
    for position, idea in enumerate(found.ideas, 1):
        gain = f"{signed(idea.gain_pct, 1)} % ({span(idea.gain_ci95_pct, 1)})"
        lines.append(f"{position}. {idea.subject} ({idea.kind}): at most {gain} on {idea.target}")
        lines += [f"   evidence: {text}" for text in idea.evidence]
        lines.append(f"   {_tried(idea)}")
        lines += [f"   {_result(entry)}" for entry in idea.earlier]
        lines.append(f"   rule: {idea.advice}")
    if found.cold:
        names = ", ".join(idea.subject for idea in found.cold)
        lines += ["", f"Cold, to be left alone: {names}"]
    if found.untried:
        lines += ["", "Boxes without a result:"]
        lines += [f"  {box['env']}: {box.get('hypothesis', '')}" for box in found.untried]
    lines += ["", "What the compiler could still give (hak ceiling):"]
    lines += [f"  {text}" for one in found.ceilings for text in one.lines()] or [
        "  not measured yet"
    ]
    if found.counters:
        lines += ["", "Counters:", *(f"  {text}" for text in found.counters)]
    return "\n".join(lines).strip("\n") + "\n"


def _tried(idea: Idea) -> str:
    if not idea.boxes:
        return "boxes: none acts on it; ./hak new box makes one"
    if not idea.earlier:
        return f"boxes: {', '.join(idea.boxes)}; none measured"
    tried = f"tried {count(len(idea.earlier), 'time')}"
    return f"boxes: {', '.join(idea.boxes)}; {tried}, {len(idea.failed)} without a gain"


def _result(entry: Entry) -> str:
    delta = f" {signed(entry.delta_pct)} %" if entry.delta_pct is not None else ""
    interval = f" ({span(entry.ci95_pct)})" if entry.ci95_pct else ""
    what = entry.box or entry.title
    reason = f": {entry.reason}" if entry.reason and entry.decision.startswith(FAILED) else ""
    return f"{entry.decision}{delta}{interval} {what} on {entry.workload}, results/{entry.path}{reason}"
