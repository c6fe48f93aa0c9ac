"""`hak calibrate --times N`: N short A/A runs, each judged like any experiment. How often does the whole
procedure, on this machine, call a difference where there is none?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats as scipy_stats

from .calibrate import Check, check_uniform
from .errors import AnalysisError
from .files import FORMAT, Json, dump_json, write_text
from .load import Run, load_run
from .machines import require_alike
from .proof import same_binary
from .report.environment import environment
from .report.primary import delta_text
from .units import count
from .verdict import Verdict, judge_run

WORDS = ("GO", "NO-GO", "NEUTRAL", "UNDECIDED", "INVALID")
MOST_DECIDED = 0.10  # share of A/A runs that may say GO or NO-GO; 5 % are expected at most


def read_runs(folder: Path) -> list[Run]:
    """The complete runs below `folder`/runs, oldest first. AnalysisError where one is no A/A run."""
    found = []
    for manifest in sorted((folder / "runs").glob("*/*/manifest.json")):
        run = load_run(manifest.parent)
        if run.status != "complete":
            continue
        if not same_binary(run, run.plan.treatments[0]):
            raise AnalysisError(str(run.path), "is no A/A run", "use `hak calibrate --times N`")
        found.append(run)
    return found


def _word(verdict: Verdict) -> str:
    text = verdict.decision.text
    return "GO" if text == "STRONG GO" else text


def check_decided(decided: int, total: int) -> Check:
    """Holds the share of GO and NO-GO against MOST_DECIDED."""
    name = f"at most {MOST_DECIDED:.0%} are GO or NO-GO".replace("%", " %")
    if total == 0:
        return Check(name, "OPEN", "no valid run", None)
    interval = scipy_stats.binomtest(decided, total).proportion_ci(0.95)
    text = (
        f"{decided} of {total} (95 % {100 * interval.low:.1f}…{100 * interval.high:.1f} % of such "
        "runs)"
    )
    return Check(name, "PASS" if decided <= MOST_DECIDED * total else "FAIL", text, None)


def times_json(folder: Path, is_forced: bool = False) -> Json:
    """The content of aa.json. AnalysisError where there is no run or their machines differ."""
    runs = read_runs(folder)
    if not runs:
        raise AnalysisError(str(folder), "holds no complete run", "use `hak calibrate --times N`")
    warnings = require_alike(runs, is_forced)
    rows = []
    counts = dict.fromkeys(WORDS, 0)
    for run in runs:
        verdict = judge_run(run)
        evidence = verdict.primary.evidence
        counts[_word(verdict)] += 1
        rows.append(
            {
                "run": run.plan.run,
                "decision": verdict.decision_text,
                "n": evidence.n,
                "delta_pct": evidence.delta_pct,
                "ci95_pct": None if evidence.ci95_pct is None else list(evidence.ci95_pct),
                "sd_pct": evidence.sd_pct,
                "p_value": evidence.p_value,
                "void_blocks": len(verdict.void),
                "text": delta_text(evidence),
            }
        )
    valid = [row for row in rows if row["decision"] != "INVALID"]
    p_values = np.array([row["p_value"] for row in valid if row["p_value"] is not None])
    checks = [
        check_decided(counts["GO"] + counts["NO-GO"], len(valid)),
        check_uniform(p_values),
    ]
    states = {check.state for check in checks}
    first = runs[0]
    return {
        "format": FORMAT,
        "title": first.plan.title,
        "started": first.manifest.get("started"),
        "fingerprint": (first.manifest.get("machine") or {}).get("fingerprint"),
        "verdict": "FAIL" if "FAIL" in states else "OPEN" if "OPEN" in states else "PASS",
        "counts": counts,
        "checks": [check.to_json() for check in checks],
        "runs": rows,
        "warnings": warnings,
    }


def times_text(content: Json, first: Run) -> str:
    """report.md of such a result."""
    total = len(content["runs"])
    lines = [f"# {content['title']}: {count(total, 'A/A run')}", ""]
    lines += [f"> {warning}\n" for warning in content["warnings"]]
    lines += [
        "Both arms of every run are the same library with the same boxes. Whatever is called a "
        "difference here is the machine's and the procedure's doing.",
        "",
        "| Decision | Runs | Share |",
        "|---|---:|---:|",
    ]
    lines += [
        f"| {word} | {number} | {100 * number / total:.1f} % |"
        for word, number in content["counts"].items()
    ]
    lines += ["", "| Check | State | |", "|---|---|---|"]
    lines += [f"| {c['name']} | {c['state']} | {c['text']} |" for c in content["checks"]]
    lines += ["", "## Runs", "", "| Run | Decision | Change | sd of a block | p |"]
    lines += ["|---|---|---|---:|---:|"]
    for row in content["runs"]:
        sd = "–" if row["sd_pct"] is None else f"{row['sd_pct']:.2f} %"
        p_value = "–" if row["p_value"] is None else f"{row['p_value']:.3f}"
        lines.append(f"| {row['run']} | {row['decision']} | {row['text']} | {sd} | {p_value} |")
    lines += ["", "## Environment", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in environment(first)["rows"]]
    return "\n".join(lines) + "\n"


def write_times(folder: Path, is_forced: bool = False) -> Json:
    """Writes aa.json and report.md into `folder`; both may be committed, the runs need not."""
    content = times_json(folder, is_forced)
    write_text(folder / "aa.json", dump_json(content))
    write_text(folder / "report.md", times_text(content, read_runs(folder)[0]))
    return content


def times_summary(content: Json) -> str:
    """A few lines for the terminal."""
    counts = ", ".join(f"{number} {word}" for word, number in content["counts"].items())
    lines = [f"{count(len(content['runs']), 'A/A run')}: {counts}"]
    lines += [f"  {c['state']}: {c['name']}: {c['text']}" for c in content["checks"]]
    return "\n".join(lines) + "\n"
