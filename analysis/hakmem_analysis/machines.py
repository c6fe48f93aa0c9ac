"""Whether results come from machines that are alike: only such are compared or pooled, unless a person
insists (`--force`)."""

from __future__ import annotations

from typing import Any, Sequence

from .errors import AnalysisError
from .files import Json
from .load import Run

KEYS = ("cpu", "cores", "kernel", "memory_gib", "libc", "virtualisation")
"""What the harness's fingerprint is made of."""


def identity(manifest: Json) -> Json:
    """What identifies the machine of a manifest; older ones lack some of KEYS."""
    machine = manifest.get("machine")
    if not isinstance(machine, dict):
        return {}
    found = machine.get("fingerprint_of")
    source: Json = found if isinstance(found, dict) else machine
    return {key: source[key] for key in KEYS if source.get(key) is not None}


def difference(first: Json, second: Json) -> str:
    """What differs between two identities, as "cores: 2 against 4", or "". What one of them does not
    record does not differ."""
    return "; ".join(
        f"{key}: {first[key]} against {second[key]}"
        for key in KEYS
        if key in first and key in second and first[key] != second[key]
    )


def require_alike(runs: Sequence[Run], is_forced: bool) -> list[str]:
    """Warnings where the machines of some runs, or of the sessions of one, differ. AnalysisError that
    names the difference unless `is_forced`."""
    warnings = []
    for run in runs:
        mine = identity(run.manifest)
        for session in run.manifest.get("sessions") or []:
            other: Any = session.get("machine") if isinstance(session, dict) else None
            text = difference(mine, other) if isinstance(other, dict) else ""
            if text:
                warnings.append(
                    _refuse(run, "its sessions are of unlike machines", text, is_forced)
                )
    for run in runs[1:]:
        text = difference(identity(runs[0].manifest), identity(run.manifest))
        if text:
            what = f"it is of another machine than {runs[0].path}"
            warnings.append(_refuse(run, what, text, is_forced))
    return warnings


def _refuse(run: Run, what: str, text: str, is_forced: bool) -> str:
    if not is_forced:
        raise AnalysisError(str(run.path), f"{what} ({text})", "compare them with --force")
    return f"--force: {what} ({text})"
