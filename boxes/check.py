"""hak boxes --check [BOX ...]: whether boxes keep the rules of boxes, as a table.

    python3 boxes/check.py [--json] [BOX ...]

Exit code 12 where a box is not reversible or changes the baseline; the other two rules are shown
only, since old boxes break them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence

from compliance import Checked, Row, check
from registry import BUILD, ROOT, Box, boxes
from reversing import short_trials

MUST_HOLD = ("Reversible", "No side effects")
FAILED = 12


def chosen(words: Sequence[str], known: dict[str, Box]) -> list[Box]:
    """Boxes by id or ENV name; all without a word. LookupError names the one that is not known."""
    by_name = known | {box.env: box for box in known.values()}
    for word in words:
        if word not in by_name:
            raise LookupError(f"no box is called {word!r} (hak boxes lists them)")
    return [by_name[word] for word in words] or list(known.values())


def shown(box: Box, rows: Sequence[Row]) -> str:
    lines = [f"{box.env} ({box.kind}, {box.status})"]
    lines += [f"  {row.principle:<21} {row.status:<4} {row.evidence}" for row in rows]
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="hak boxes --check", description="The rules of boxes.")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("box", nargs="*", help="id or ENV name; default: all")
    args = parser.parse_args(words)
    try:
        known = boxes()
        wanted = chosen(args.box, known)
    except LookupError as error:
        print(f"hak: boxes: {error.args[0]}", file=sys.stderr)
        return 2
    except (OSError, subprocess.CalledProcessError):
        print("hak: boxes: the program hak is not built; type: ./hak build", file=sys.stderr)
        return 3
    checked, trials = Checked(ROOT, BUILD, known), short_trials()
    found = {}
    for box in wanted:
        found[box.env] = check(checked, box, trials)
        if not args.json:
            print(shown(box, found[box.env]), flush=True)
    if args.json:
        content = {env: [row.json() for row in rows] for env, rows in found.items()}
        print(json.dumps(content, indent=1))
    rows = [row for rows in found.values() for row in rows]
    broken = any(row.status == "no" and row.principle in MUST_HOLD for row in rows)
    return FAILED if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
