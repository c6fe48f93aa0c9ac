"""A family of results on one page: all comparisons in one plot and one table, for example the ways
to classify a free by size, or the bands of inline slots."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

from ..errors import AnalysisError
from ..files import Json, check_format, read_json, write_text
from ..units import count, signed, span
from .plots import ForestRow, forest_plot
from .style import save


@dataclass(frozen=True)
class Member:
    """One comparison of one result: a treatment on a cell. Percentages: positive is better."""

    run: str
    title: str
    cell: str
    baseline: str
    treatment: str
    word: str
    n: int
    delta_pct: float | None
    ci95_pct: tuple[float, float] | None
    is_primary: bool


def read_family(folders: Sequence[Path]) -> list[Member]:
    """All comparisons of the results, cell by cell. AnalysisError where a folder has no verdict, or
    its comparisons are missing."""
    members = [member for folder in folders for member in _members(folder)]
    cells = list(dict.fromkeys(member.cell for member in members))
    return sorted(members, key=lambda member: cells.index(member.cell))


def _members(folder: Path) -> list[Member]:
    path = folder / "verdict.json"
    verdict = read_json(path)
    check_format(verdict, str(path))
    cells = verdict.get("cells")
    if not isinstance(cells, list) or not cells:
        raise AnalysisError(str(path), "holds no comparisons", "make it again with hak report")
    run = f"{verdict.get('phase', '?')}/{verdict.get('run', folder.name)}"
    return [_member(cell, run, str(verdict.get("title") or "")) for cell in cells]


def _member(cell: Json, run: str, title: str) -> Member:
    evidence: dict[str, Any] = cell.get("evidence") or {}
    interval = evidence.get("ci95_pct")
    treatment = str(cell.get("treatment") or "treatment")
    arms = [name for name in cell.get("arms") or {} if name != treatment]
    return Member(
        run=run,
        title=title,
        cell=str(cell.get("cell") or cell.get("workload") or "?"),
        baseline=arms[0] if arms else "baseline",
        treatment=treatment,
        word=str(evidence.get("verdict") or "INVALID"),
        n=int(evidence.get("n") or 0),
        delta_pct=evidence.get("delta_pct"),
        ci95_pct=(interval[0], interval[1]) if interval else None,
        is_primary=cell.get("role") == "primary",
    )


def _best(members: Sequence[Member]) -> str:
    """The sentence at the top: which treatment stands above the baseline everywhere, if any does."""
    baselines = {member.baseline for member in members}
    ahead, behind = [], []
    for treatment, baseline in dict.fromkeys((m.treatment, m.baseline) for m in members):
        name = treatment if len(baselines) == 1 else f"{treatment} (against {baseline})"
        intervals = [
            m.ci95_pct for m in members if (m.treatment, m.baseline) == (treatment, baseline)
        ]
        known = [interval for interval in intervals if interval is not None]
        if known and len(known) == len(intervals):
            if all(low > 0.0 for low, _ in known):
                ahead.append(name)
            if all(high < 0.0 for _, high in known):
                behind.append(name)
    base = members[0].baseline if len(baselines) == 1 else "its baseline"
    parts = []
    if ahead:
        parts.append(f"faster than {base} in every cell: {', '.join(ahead)}")
    if behind:
        parts.append(f"slower in every cell: {', '.join(behind)}")
    if not parts:
        parts.append(f"none differs from {base} in every cell")
    text = "; ".join(parts) + " (by the 95 % intervals)"
    return text[0].upper() + text[1:] + "."


def family_text(title: str, members: Sequence[Member]) -> str:
    """The page, without its plot."""
    lines = [f"# {title}", "", _best(members), "", "![All comparisons](family.svg)", ""]
    lines += [
        "| cell | arm | against | verdict | change | 95 % | blocks |",
        "|---|---|---|---|---|---|---|",
    ]
    for member in members:
        delta = f"{signed(member.delta_pct)} %" if member.delta_pct is not None else "–"
        lines.append(
            f"| {member.cell} | {member.treatment} | {member.baseline} | {member.word} | {delta} "
            f"| {span(member.ci95_pct)} % | {member.n} |"
        )
    runs = dict.fromkeys((member.run, member.title) for member in members)
    lines += ["", "Against the baseline of its own result; right, or positive, is better.", ""]
    lines += [f"From {count(len(runs), 'result')}:", ""]
    lines += [f"- {run}: {text}" for run, text in runs]
    return "\n".join(lines) + "\n"


def write_family(folders: Sequence[Path], title: str, out: Path) -> Path:
    """Writes README.md and family.svg into `out`; gives the page's path."""
    members = read_family(folders)
    rows = [
        ForestRow(
            label=f"{member.treatment} · {member.cell}",
            word=member.word,
            n=member.n,
            delta_pct=member.delta_pct,
            ci95_pct=member.ci95_pct,
            is_primary=member.is_primary,
        )
        for member in members
    ]
    save(forest_plot(rows, threshold_pct=1.0), out / "family.svg")
    write_text(out / "README.md", family_text(title, members))
    return out / "README.md"
