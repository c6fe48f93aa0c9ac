"""Reading and writing the small files of a result folder.

Files are written beside their name and renamed over it, so that a full disk or a kill leaves the
old good file in place.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

from .errors import IO_ERROR, AnalysisError

FORMAT = 1
Json = dict[str, Any]


def read_json(path: Path) -> Json:
    """Returns the object in `path`. AnalysisError where it is missing, damaged or no object."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise AnalysisError(str(path), "no such file", "name a result folder or file that has it")
    except (OSError, UnicodeDecodeError) as error:
        raise AnalysisError(str(path), f"cannot be read ({error})", "check the file") from None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise AnalysisError(
            f"{path}:{error.lineno}", f"not JSON ({error.msg})", "restore the file from a copy"
        ) from None
    if not isinstance(value, dict):
        raise AnalysisError(str(path), "holds no JSON object", "restore the file from a copy")
    return value


def check_format(value: Json, where: str) -> None:
    """AnalysisError where `format` is missing, no whole number or higher than this reader knows."""
    found = value.get("format")
    if not isinstance(found, int) or isinstance(found, bool):
        raise AnalysisError(where, "has no 'format' number", "it is not one of the harness's files")
    if found > FORMAT:
        raise AnalysisError(
            where,
            f"has format {found}, this reader knows up to {FORMAT}",
            "use the hak version that wrote it, or a newer one",
        )


def dump_json(value: Any, indent: int | None = 1) -> str:
    """JSON text of `value` with a newline at the end. ValueError on NaN or infinity: a report and a
    verdict hold numbers or null, nothing else."""
    return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def write_text(path: Path, text: str) -> None:
    """Replaces `path` by `text` in one step. AnalysisError where the folder or disk refuses."""
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        reason = error.strerror or str(error)
        raise AnalysisError(
            str(path),
            f"cannot be written ({reason})",
            "make room or choose another folder",
            IO_ERROR,
        ) from None


def finite(value: float | None) -> float | None:
    """`value` as a float, or None where it is None, NaN or infinite."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None
