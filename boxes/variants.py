"""List the variants of the hot translation unit, for meson.

A variant flips one shape or boot box and what that box requires; further combinations stand in
combos.def, one a line, ids joined by '+'. Prints `name id,id` a line; the first is the baseline.

    python3 boxes/variants.py boxes.def combos.def
"""

import re
import sys
from pathlib import Path

ENTRY = re.compile(r"HAKMEM_BOX\((\w+),(.*?)\)\s*(?=HAKMEM_BOX|\Z)", re.DOTALL)


def shape_boxes(text: str) -> dict[str, list[str]]:
    """Ids of the shape and boot boxes of boxes.def, each with the shapes that it requires."""
    text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    required: dict[str, list[str]] = {}
    for box_id, body in ENTRY.findall(text):
        if re.search(r"\.kind\s*=\s*Kind::(shape|boot)\b", body):
            needs = re.search(r'\.requires_ids\s*=\s*"([^"]*)"', body)
            required[box_id] = needs.group(1).split() if needs else []
    return required


def closure(box_id: str, required: dict[str, list[str]]) -> list[str]:
    """The box behind everything that it requires."""
    flips: list[str] = []
    for need in required[box_id]:
        flips += [x for x in closure(need, required) if x not in flips] if need in required else []
    return flips + [box_id]


def main(definitions: Path, combinations: Path) -> int:
    required = shape_boxes(definitions.read_text(encoding="utf-8"))
    print("baseline -")
    for box_id in required:
        print(box_id, ",".join(closure(box_id, required)))
    for line in combinations.read_text(encoding="utf-8").splitlines():
        ids = line.split("//")[0].strip()
        if not ids:
            continue
        unknown = [i for i in ids.split("+") if i not in required]
        if unknown:
            print(f"combos.def: no shape box '{unknown[0]}'", file=sys.stderr)
            return 1
        print(ids.replace("+", "_and_"), ids.replace("+", ","))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
