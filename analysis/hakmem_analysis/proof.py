"""Execution proof: did each arm run what the manifest says? What is not proven makes INVALID.

Checks of measurement.md section 1: library and hash, effective box state, use counts (or those of
the observe pre-run), entry variants, checksums, run status.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable

import pandas as pd

from .blocks import Selection
from .files import Json
from .load import Run
from .plan import Arm


@dataclass(frozen=True)
class ArmProof:
    """What is known of one arm: runs that ended ok of all runs; library that served malloc; hash and
    build-id; variant; effective boxes as text; use counts by box (None: not counted)."""

    arm: str
    ok: int
    total: int
    mapped: str | None
    sha256: str | None
    build_id: str | None
    variant: str | None
    boxes: dict[str, str]
    uses: dict[str, int | None]
    executed: dict[str, int | None]


def _reports(rows: pd.DataFrame) -> list[Json]:
    found = []
    for proof in rows["proof"]:
        report = proof.get("report") if isinstance(proof, dict) else None
        if isinstance(report, dict):
            found.append(report)
    return found


def _box_field(report: Json, box: str, name: str) -> Any:
    entry = (report.get("boxes") or {}).get(box)
    return entry.get(name) if isinstance(entry, dict) else None


def boxes_under_test(run: Run) -> list[str]:
    """The variables in which some hakmem treatment differs from the baseline."""
    base = run.plan.baseline
    names: set[str] = set()
    for arm in run.plan.treatments:
        for name in set(arm.boxes) | set(base.boxes):
            if arm.boxes.get(name) != base.boxes.get(name):
                names.add(name)
    return sorted(names)


def executed_in_observe(run: Run, arm: str, box: str) -> int | None:
    """The count of the observe pre-run (another binary), or None where it was not made."""
    observe = run.manifest.get("observe") or {}
    entry = (observe.get(arm) or {}).get(box)
    value = entry.get("executed") if isinstance(entry, dict) else None
    return int(value) if isinstance(value, (int, float)) else None


def arm_proof(run: Run, arm: Arm) -> ArmProof:
    """Collects the proof of one arm over all of its samples."""
    rows = run.samples[run.samples["arm"] == arm.name]
    proofs = [proof for proof in rows["proof"] if isinstance(proof, dict)]
    reports = _reports(rows)
    boxes = sorted(set(arm.boxes) | set(boxes_under_test(run))) if reports else []
    first = proofs[0] if proofs else {}
    return ArmProof(
        arm=arm.name,
        ok=int((rows["status"] == "ok").sum()),
        total=len(rows),
        mapped=first.get("mapped"),
        sha256=first.get("sha256") or arm.sha256,
        build_id=first.get("build_id") or arm.build_id,
        variant=_joined(report.get("variant") for report in reports),
        boxes={box: _joined(_box_field(r, box, "value") for r in reports) or "?" for box in boxes},
        uses={box: _least_use(reports, box) for box in boxes},
        executed={box: executed_in_observe(run, arm.name, box) for box in boxes},
    )


def _joined(values: Iterable[Any]) -> str | None:
    texts = sorted({str(value) for value in values if value is not None})
    return ", ".join(texts) or None


def _least_use(reports: list[Json], box: str) -> int | None:
    counts = [_box_field(report, box, "uses") for report in reports]
    known = [int(count) for count in counts if isinstance(count, (int, float))]
    return min(known) if known else None


def _same_value(wanted: str, found: Any) -> bool:
    try:
        return int(wanted) == int(found)
    except (TypeError, ValueError):
        return wanted == str(found)


def _box_problems(run: Run, arm: Arm, rows: pd.DataFrame) -> list[str]:
    """Effective state and use counts of a hakmem arm's boxes."""
    reports = _reports(rows)
    tested = boxes_under_test(run)
    if not reports:
        must_report = tested and arm.role != "reference"
        return [f"{arm.name}: the allocator gave no report"] if must_report else []
    problems = []
    for box in sorted(arm.boxes):
        if not any(box in (report.get("boxes") or {}) for report in reports):
            problems.append(f"{arm.name}: {box} is not among the boxes that it reported")
            continue
        found = [_box_field(report, box, "value") for report in reports]
        wrong = sum(not _same_value(arm.boxes[box], value) for value in found)
        if wrong:
            problems.append(
                f"{arm.name}: {box} was not {arm.boxes[box]} in {wrong} of {len(found)} runs"
            )
    return problems + _use_problems(run, arm, reports, tested)


def _turns_on(arm: Arm, reports: list[Json], box: str) -> bool:
    """Whether `arm` gives `box` another value than its default, so that its use must show. Where no
    report says the default, 0 counts as it."""
    if box not in arm.boxes:
        return False
    defaults = [_box_field(report, box, "default") for report in reports]
    default = next((value for value in defaults if value is not None), 0)
    return not _same_value(arm.boxes[box], default)


def _use_problems(run: Run, arm: Arm, reports: list[Json], tested: list[str]) -> list[str]:
    problems = []
    for box in tested:
        if not _turns_on(arm, reports, box):
            continue
        uses, executed = _least_use(reports, box), executed_in_observe(run, arm.name, box)
        if uses == 0:
            problems.append(f"{arm.name}: {box} was never used (use count 0)")
        elif executed == 0:
            problems.append(f"{arm.name}: {box} was never executed in the observe pre-run")
        elif uses is None and executed is None:
            variants = {report.get("variant") for report in reports}
            if variants <= {None, "baseline"}:
                problems.append(
                    f"{arm.name}: nothing proves that {box} ran (no count, no variant of its own)"
                )
    return problems


def arm_problems(run: Run, selection: Selection, cell: str, arm: Arm) -> list[str]:
    """Why one arm of one cell cannot be believed; empty where it can."""
    failed = selection.failed
    failed = failed[(failed["cell"] == cell) & (failed["arm"] == arm.name)]
    failed = failed[(failed["status"] != "timeout") | failed["void"].isna()]
    problems = [
        f"{arm.name}: {count} of its runs ended in {status}{_detail(failed, status)}"
        for status, count in failed["status"].value_counts(sort=False).items()
    ]
    valid = selection.valid
    rows = valid[(valid["cell"] == cell) & (valid["arm"] == arm.name)]
    if rows.empty:
        return problems + ([] if problems else [f"{arm.name}: no valid run"])
    proofs = list(rows["proof"])
    absent = sum(not isinstance(proof, dict) for proof in proofs)
    if absent:
        problems.append(f"{arm.name}: no proof of execution in {absent} of {len(proofs)} runs")
    bad = [p for p in proofs if isinstance(p, dict) and not p.get("ok")]
    if bad:
        reasons = sorted({str(text) for proof in bad for text in proof.get("problems") or []})
        problems.append(f"{arm.name}: " + ("; ".join(reasons) or "its proof of execution failed"))
    problems += _hash_problems(arm, proofs)
    return problems + (_box_problems(run, arm, rows) if arm.is_hakmem else [])


def _detail(failed: pd.DataFrame, status: Any) -> str:
    details = [d for d in failed[failed["status"] == status]["detail"] if isinstance(d, str) and d]
    return f" ({details[0]})" if details else ""


def _hash_problems(arm: Arm, proofs: list[Any]) -> list[str]:
    hashes = {p["sha256"] for p in proofs if isinstance(p, dict) and p.get("sha256")}
    if len(hashes) > 1 or (arm.sha256 and hashes and hashes != {arm.sha256}):
        return [f"{arm.name}: the library that ran is not the one of the manifest (sha256)"]
    return []


def checksum_problems(selection: Selection, cell: str, arms: list[str]) -> list[str]:
    """Seeds for which the workload's checksum differs between runs of `arms`."""
    valid = selection.valid
    rows = valid[(valid["cell"] == cell) & valid["arm"].isin(arms) & valid["checksum"].notna()]
    kinds = rows.groupby("seed", dropna=False)["checksum"].nunique()
    return [
        f"the workload's checksum differs between runs with seed {seed}"
        for seed in kinds[kinds > 1].index
    ]


def same_binary(run: Run, treatment: Arm) -> bool:
    """Whether both arms are one library with the same box variables: an A/A run."""
    base = run.plan.baseline
    is_same_library = (
        base.sha256 == treatment.sha256
        if base.sha256 and treatment.sha256
        else base.library == treatment.library
    )
    return is_same_library and base.boxes == treatment.boxes
