"""Analysis of hakmem's result folders: load, judge, report.

In a notebook:

    from hakmem_analysis import load_run, judge_run
    run = load_run("results/quickstart/20261201-023000")
    run.samples            # DataFrame, a row a process
    judge_run(run).decision_text
"""

from .blocks import select
from .errors import AnalysisError
from .load import Run, load_run
from .verdict import Verdict, judge_run

__all__ = ["AnalysisError", "Run", "Verdict", "judge_run", "load_run", "select"]
