"""Decision, next steps, environment, and the optional files of a result folder: mechanism.json,
compliance.json, notes.md, and the calibration of the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import AnalysisError
from ..files import check_format, read_json
from ..load import Run
from ..stats.decide import Word
from ..units import count, plain, signed
from ..verdict import Verdict

Json = dict[str, Any]


def default_of(run: Run) -> str | None:
    """The default of the box under test, as the allocator reported it; None where unknown."""
    for proof in run.samples["proof"]:
        report = proof.get("report") if isinstance(proof, dict) else None
        entry = ((report or {}).get("boxes") or {}).get(run.plan.box)
        if isinstance(entry, dict) and entry.get("default") is not None:
            return str(entry["default"])
    return None


def decision(verdict: Verdict, box: str | None, values: Any, default: str | None) -> str:
    """The decision with the line to change, or why the default stays."""
    word = verdict.decision
    head = f"**{verdict.decision_text}.** "
    if verdict.is_aa:
        return head + "Both arms are the same: there is nothing to decide."
    if box is None or values is None:
        return (
            head + "The arms differ in more than one box's value: no default depends on this run."
        )
    if word not in (Word.GO, Word.STRONG_GO, Word.NO_GO):
        now = f" of {default}" if default is not None else ""
        return head + f"Leave the default{now} of `{box}` in `boxes/boxes.def` as it is."
    winner = str(values[0] if word is Word.NO_GO else values[1])
    if default == winner:
        return (
            head + f"Leave the default: `{box}={winner}` is the better arm and the default already."
        )
    if default is None and word is Word.NO_GO:
        return head + f"Leave the default: `{box}={values[1]}` did not pay."
    old = f"`.default_value = {default},`" if default is not None else "`.default_value`"
    return head + (
        f'In `boxes/boxes.def`, the box with `.env = "{box}"`: change {old} to '
        f"`.default_value = {winner},`. A promotion takes a second, fresh run that confirms it in "
        "`libhakmem.so`: `hak promote` makes it and edits the line."
    )


def next_steps(verdict: Verdict, run_hint: str) -> list[str]:
    """What the verdict asks for next; never empty."""
    word, evidence = verdict.decision, verdict.primary.evidence
    steps = []
    if word is Word.INVALID:
        steps.append(f'Mend the cause ("{evidence.text}") and start a new run{run_hint}.')
    elif verdict.qualifier == "guard":
        names = sorted({g.cell + "/" + g.metric for g in verdict.guards if g.state != "PASS"})
        steps.append("Look at the guards that are not PASS: " + ", ".join(names) + ".")
    elif word is Word.UNDECIDED and evidence.needed_blocks is not None:
        steps.append(
            f"To decide: a fresh run of {count(evidence.needed_blocks, 'block')}{run_hint}, or "
            "`--until-decided`. This run is never extended: that would be peeking."
        )
    elif word is Word.UNDECIDED:
        steps.append(f"Complete the run or start a fresh one{run_hint}.")
    elif word.is_go:
        steps.append("Confirm in a second, fresh run before any default changes (`hak promote`).")
    elif word is Word.NO_GO:
        steps.append(
            "Keep the worse arm off. If it has no other use, remove the box when it expires."
        )
    else:
        steps.append("Prefer the simpler arm: the difference is too small to matter here.")
    if verdict.forecast.outcome == "missed":
        steps.append("Write into `notes.md` why the forecast missed, for the next one.")
    return steps


def _optional(folder: Path, name: str) -> Json | None:
    path = folder / name
    if not path.exists():
        return None
    content = read_json(path)
    check_format(content, str(path))
    if not isinstance(content.get("rows"), list):
        raise AnalysisError(str(path), "has no list 'rows'", "remove it or let hak write it again")
    return content


def mechanism(folder: Path | None) -> Json:
    """mechanism.json as rows: {"rows": [{"quantity", "unit", "baseline", "treatment", "source"}]}."""
    content = _optional(folder, "mechanism.json") if folder else None
    if content is None:
        return {"intro": "Not measured in this run.", "rows": []}
    rows = []
    for entry in content["rows"]:
        base, test = entry.get("baseline"), entry.get("treatment")
        name = str(entry.get("quantity", "?"))
        unit = f" ({entry['unit']})" if entry.get("unit") else ""
        change = "–"
        if isinstance(base, (int, float)) and isinstance(test, (int, float)) and base:
            change = f"{signed(100.0 * (test / base - 1.0))} %"
        shown = [_number(base), _number(test)]
        rows.append([name + unit, *shown, change, str(entry.get("source") or "–")])
    return {"intro": str(content.get("intro") or "Measured beside this run."), "rows": rows}


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "–" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else plain(float(value), 3)


def compliance(folder: Path | None, verdict: Verdict) -> Json:
    """compliance.json as rows ({"principle", "status", "evidence"}), and the performance row, which
    comes from the verdict."""
    content = _optional(folder, "compliance.json") if folder else None
    word = verdict.decision
    passed = "yes" if word.is_go else "no"
    performance = ["Performance", passed, f"evidence: {verdict.decision_text}"]
    if content is None:
        intro = "The structural principles were not computed in this run."
        return {"intro": intro, "rows": [performance]}
    rows = [
        [str(e.get("principle", "?")), str(e.get("status", "?")), str(e.get("evidence") or "–")]
        for e in content["rows"]
    ]
    return {"intro": "Computed from source and binary.", "rows": [*rows, performance]}


def notes(folder: Path) -> str:
    """notes.md, with its headings one level down so that it sits inside the report; "" if absent."""
    path = folder / "notes.md"
    if not path.exists():
        return ""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise AnalysisError(str(path), f"cannot be read ({error})", "save it as UTF-8") from None
    lines, is_code = [], False
    for line in text.splitlines():
        is_code ^= line.startswith("```")
        lines.append("##" + line if line.startswith("#") and not is_code else line)
    return "\n".join(lines)


def calibration_text(run: Run) -> str:
    """What results/calibration.json says of this machine, in one clause."""
    path = run.path.resolve().parent.parent / "calibration.json"
    if not path.exists():
        return "none (`hak calibrate` records the machine's noise)"
    content = read_json(path)
    check_format(content, str(path))
    mine = (run.manifest.get("machine") or {}).get("fingerprint")
    if content.get("fingerprint") != mine:
        return "of another machine, so it says nothing here"
    pieces = [f"A/A {content.get('verdict', '?')}"]
    if content.get("sd_pct") is not None:
        pieces.append(f"sd of a block's difference {content['sd_pct']:.2f} %")
    needed = (content.get("needed_blocks") or {}).get("1")
    if needed is not None:
        pieces.append(f"{count(int(needed), 'block')} to see 1 %")
    return "; ".join(pieces) + f" ({count(int(content.get('blocks') or 0), 'block')})"
