"""Whether layouts speak for a box: what `hak promote` asks of boxes whose arms are different code.

Where data decides, both arms run the same code at the same place. A shape or boot box has hot code of
its own, so its effect may be the linker's; only many layouts tell (measurement.md section 6).
"""

from __future__ import annotations

from pathlib import Path

from .errors import AnalysisError
from .layout import FILE, LayoutReport, read_layout
from .load import Run, load_run
from .machines import require_alike
from .registry import BoxEntry
from .stats.layout import LEAST_LAYOUTS

OWN_CODE = ("shape", "boot")


def needs_layouts(box: BoxEntry) -> bool:
    return box.kind in OWN_CODE


def newest_layouts(box: BoxEntry, results: Path) -> Path:
    """The last layout folder of a box. AnalysisError where there is none."""
    found = sorted((results / "layout").glob(f"{box.id}-*/{FILE}"))
    if not found:
        raise AnalysisError(
            str(results / "layout"),
            f"holds no layouts of {box.env}, whose arms are different code",
            f"measure them with hak layout {box.id}, or name them with --layout DIR",
        )
    return found[-1].parent


def check_layouts(
    box: BoxEntry, new: int, evidence: Run, folder: Path, is_forced: bool
) -> LayoutReport:
    """The layouts, analysed from their samples. AnalysisError where they are of another box, value or
    machine, too few, or no GO."""
    report = read_layout(folder)

    def refuse(what: str, advice: str) -> AnalysisError:
        return AnalysisError(str(folder), what, advice)

    measured, value = str(report.plan["box"]), int(report.plan["values"][1])
    if (measured, value) != (box.env, new):
        raise refuse(f"it is about {measured}={value}", f"measure {box.env}={new}")
    link = load_run(folder / str(report.plan["links"][0]["run"]))
    require_alike([evidence, link], is_forced)
    if not report.is_enough:
        raise refuse(
            f"it has {report.effect.effect.layouts} layouts",
            f"a promotion takes {LEAST_LAYOUTS}: hak layout {box.id}",
        )
    word = report.effect.effect.word
    if not word.is_go:
        raise refuse(f"over the layouts its decision is {word.text}", "only a GO promotes a box")
    return report
