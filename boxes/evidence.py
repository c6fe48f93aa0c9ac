"""mechanism.json and compliance.json of a result folder, called by `hak run` before the report.

    python3 boxes/evidence.py results/PHASE/RUN
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from compliance import Checked, check
from mechanism import ArmSeen, figures, mechanism
from registry import BUILD, ROOT, Box, boxes
from reversing import short_trials

Json = dict[str, Any]


def write_json(path: Path, content: Json) -> None:
    """Beside it, then renamed."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(path)


def variant_of(folder: Path, arm: str) -> str:
    """As the allocator of the first proven sample reported it; "" where none did."""
    path = folder / "samples.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        sample = json.loads(line)
        report = (sample.get("proof") or {}).get("report") or {}
        if sample.get("arm") == arm and report.get("variant"):
            return str(report["variant"])
    return ""


def seen(folder: Path, arm: Json, counts: Json) -> ArmSeen:
    """The arm, whose library must still be the file that was measured."""
    path = ROOT / arm["path"] if arm.get("path") else None
    if path is not None and not path.name.startswith("libhakmem"):
        path = None
    if path is not None and arm.get("sha256"):
        measured = path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == arm["sha256"]
        path = path if measured else None
    name = str(arm["name"])
    return ArmSeen(path, variant_of(folder, name), (counts.get("arms") or {}).get(name) or {})


def with_role(arms: list[Json], role: str) -> Json:
    return next(arm for arm in arms if arm.get("role") == role)


def write_mechanism(folder: Path, manifest: Json) -> None:
    path = folder / "counts.json"
    counts = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    cell = next(cell for cell in manifest["cells"] if cell.get("primary"))
    first, second = (
        figures(seen(folder, with_role(manifest["arms"], role), counts))
        for role in ("baseline", "treatment")
    )
    intro = f"Counted beside the run, on `{cell['cell']}` with fewer operations."
    write_json(folder / "mechanism.json", mechanism(first, second, intro))


def under_test(manifest: Json, known: dict[str, Box]) -> list[Box]:
    """The experiment's box, or those whose value a treatment has otherwise than the baseline."""
    named = manifest["experiment"].get("box")
    base = with_role(manifest["arms"], "baseline").get("env") or {}
    treatments = [a.get("env") or {} for a in manifest["arms"] if a.get("role") == "treatment"]

    def differs(box: Box) -> bool:
        default = str(box.default)
        mine = base.get(box.env, default)
        return any(env.get(box.env, default) != mine for env in treatments)

    return [box for box in known.values() if (box.env == named if named else differs(box))]


def write_compliance(folder: Path, manifest: Json) -> None:
    """Of the boxes under test; nothing is written where the arms are no boxes' values."""
    known = boxes()
    tested = under_test(manifest, known)
    if not tested:
        return
    checked, trials = Checked(ROOT, BUILD, known), short_trials()
    rows = []
    for box in tested:
        for row in check(checked, box, trials):
            content = row.json()
            if len(tested) > 1:
                content["principle"] += f" ({box.env})"
            rows.append(content)
    write_json(folder / "compliance.json", {"format": 1, "rows": rows})


def main(folder: Path) -> int:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        write_mechanism(folder, manifest)
        write_compliance(folder, manifest)
    except (
        OSError,
        ValueError,
        LookupError,
        StopIteration,
        subprocess.CalledProcessError,
    ) as error:
        print(f"hak: {folder}: no mechanism or compliance: {error!r}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
