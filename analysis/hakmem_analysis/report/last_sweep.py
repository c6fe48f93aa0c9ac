"""What the newest whole sweep of `hak compare` said: where the allocator stands by default."""

from __future__ import annotations

from pathlib import Path

from ..errors import AnalysisError
from ..files import check_format, read_json

SUITE_CELLS = 18  # a sweep with fewer cells was cut down by --only
LEAST_SECONDS = 1.0  # a shorter measured region is a first look (--quick)


def last_sweep(results: Path) -> str:
    """One line from results/compare/RUN/compare.json; says so where there is no whole sweep."""
    for path in sorted(results.glob("compare/*/compare.json"), reverse=True):
        try:
            record = read_json(path)
            check_format(record, str(path))
        except AnalysisError:
            continue
        is_whole = len(record.get("cells") or []) >= SUITE_CELLS
        if not is_whole or float(record.get("min_seconds") or 0.0) < LEAST_SECONDS:
            continue
        name = f"{path.parent.parent.name}/{path.parent.name}"
        return f"{record.get('headline', '?')} (`{name}`)"
    return "none yet (`hak compare` makes one)"
