"""The environment section: machine, build, libraries, doctor; from the manifest alone."""

from __future__ import annotations

from typing import Any

from ..load import Run
from .extras import calibration_text

Json = dict[str, Any]
LONGEST = 400  # characters of a table cell; the manifest has the rest


def _known(manifest: Json, path: str) -> str | None:
    """The value at a dotted path as text; where it is null, the reason from `missing`."""
    value: Any = manifest
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        reason = (manifest.get("missing") or {}).get(path)
        return f"not known: {reason}" if reason else None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"`{key}={item}`" for key, item in value.items()) or "empty"
    return str(value)


_ROWS = (
    ("CPU", "machine.cpu"),
    ("Cores", "machine.cores"),
    ("Allowed CPUs", "machine.allowed_cpus"),
    ("Kernel", "machine.kernel"),
    ("C library", "machine.libc"),
    ("Governor", "machine.governor"),
    ("Transparent huge pages", "machine.thp"),
    ("Virtualisation", "machine.virtualisation"),
    ("Machine fingerprint", "machine.fingerprint"),
    ("Compiler", "build.compiler"),
    ("Flags", "build.flags"),
    ("Build profile", "build.profile"),
    ("Git commit", "git.commit"),
    ("Tree had changes", "git.dirty"),
    ("Experiment sha256", "experiment_sha256"),
    ("Environment of every run", "environment.allow_list"),
)


def environment(run: Run) -> Json:
    """Rows of the environment table, and the doctor's findings that are not "ok"."""
    manifest = run.manifest
    rows = [(name, _known(manifest, path)) for name, path in _ROWS]
    shown = [(name, _cell(text)) for name, text in rows if text is not None]
    for arm in run.plan.arms:
        env = ", ".join(f"`{key}={value}`" for key, value in sorted(arm.env.items()))
        shown.append((f"Arm {arm.name}", _cell(f"library {arm.library}; {env or 'no variables'}")))
    sessions = manifest.get("sessions")
    if isinstance(sessions, list) and sessions:
        shown.append(("Sessions", str(len(sessions))))
    shown.append(("Calibration", calibration_text(run)))
    doctor = [
        [_cell(str(entry.get(key) or "–")) for key in ("check", "state", "severity", "effect")]
        for entry in manifest.get("doctor") or []
        if isinstance(entry, dict) and entry.get("severity") != "ok"
    ]
    intro = "As the harness found it." + (
        "" if doctor or not manifest.get("doctor") else " `hak doctor` had nothing to remark."
    )
    return {"intro": intro, "rows": shown, "doctor": doctor}


def _cell(text: str) -> str:
    """Text that cannot break a Markdown table."""
    flat = text.replace("|", "\\|").replace("\n", " ")
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"
