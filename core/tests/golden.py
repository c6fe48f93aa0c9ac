"""The fast paths as text, to be compared with the reviewed files in golden/.

After a change that is meant:  HAK_BUILD=... PYTHONPATH=boxes python3 core/tests/golden.py
"""

from __future__ import annotations

import re
from pathlib import Path

from disassembly import function, normalised, output_of
from preload import STANDARD

GOLDEN = Path(__file__).parent / "golden"
FUNCTIONS = ("malloc", "free")


def built_with() -> str | None:
    """gcc-12 or clang-14 for the versions that goldens are made with, by the .comment section."""
    comment = output_of("readelf", "-p", ".comment", STANDARD)
    if re.search(r"clang version 14\.0\.", comment):
        return "clang-14"
    return "gcc-12" if re.search(r"GCC: .* 12\.2\.", comment) else None


def text_of(name: str) -> str:
    return "\n".join(normalised(function(STANDARD, name))) + "\n"


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for name in FUNCTIONS:
        file = GOLDEN / f"{name}.{built_with()}.txt"
        file.write_text(text_of(name), encoding="utf-8")
        print(file)


if __name__ == "__main__":
    main()
