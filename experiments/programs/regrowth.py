"""What khugepaged does to memory that was given back: resident KiB when full, trimmed, and while idle.

    HAKMEM_THP=2 PYTHONMALLOC=malloc LD_PRELOAD=.../libhakmem.so python3 regrowth.py [SECONDS]

One block in each 256 KiB stays, so that most slices are free and purged, but no huge page is empty:
the kernel may fill such a page up again (max_ptes_none), at 16 MiB in ten seconds where its settings
are the usual ones.
"""

import ctypes
import resource
import sys
import time
from pathlib import Path

BLOCKS = 400_000
SIZE = 479  # with bytes' own header: 512
KEPT = 512


def resident_kib() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() // 1024


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 150
    blocks: list[bytes | None] = [bytes(SIZE) for _ in range(BLOCKS)]
    print("full", resident_kib(), flush=True)
    for i in range(BLOCKS):
        if i % KEPT:
            blocks[i] = None
    ctypes.CDLL(None).malloc_trim(0)
    print("trimmed", resident_kib(), flush=True)
    for passed in range(10, seconds + 1, 10):
        time.sleep(10)
        print(f"after {passed} s", resident_kib(), flush=True)


main()
