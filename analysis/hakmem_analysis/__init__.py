"""Analysis of hakmem's result folders: load, judge, report.

In a notebook:

    from hakmem_analysis import load_run, judge_run
    run = load_run("results/quickstart/20261201-023000")
    run.samples            # DataFrame, a row a process
    judge_run(run).decision_text
    pairs_frame(run)       # a row a block: baseline, treatment, log difference

docs/guide/python.md says more.
"""

from .blocks import select
from .errors import AnalysisError
from .frames import comparisons_frame, guards_frame, history_frame, pairs_frame, slices_frame
from .load import Run, load_run
from .verdict import Verdict, judge_run

__all__ = [
    "AnalysisError",
    "Run",
    "Verdict",
    "comparisons_frame",
    "guards_frame",
    "history_frame",
    "judge_run",
    "load_run",
    "pairs_frame",
    "select",
    "slices_frame",
]
