"""Trains build/fast-pgo: counts its workloads, then compiles again with what was counted.

    python3 ci/train.py BUILD HAKBENCH

BUILD is a configured folder of the profile fast-pgo, HAKBENCH the program of the standard build. The
workloads are those of ci/training.json; what ran is written to BUILD/core/training.json, and every
manifest that measures the library repeats it. Exit code 1 where a step fails.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

WORKLOADS = Path(__file__).resolve().parent / "training.json"
LIBRARY = "core/libhakmem.so"
# A compiler cache may not know that a profile changed.
NO_CACHE = {"CCACHE_DISABLE": "1"}

Json = dict[str, Any]


class TrainingError(Exception):
    """One line: what failed."""


def call(command: list[str | Path], env: dict[str, str]) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(
        words, env={**os.environ, **env}, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise TrainingError(f"{' '.join(words)}: exit code {done.returncode}")
    return done.stdout


def compile_for(build: Path, pgo: str) -> None:
    call(["meson", "configure", build, f"-Dpgo={pgo}"], NO_CACHE)
    print(call(["ninja", "-C", build, LIBRARY], NO_CACHE))


def forget(build: Path) -> None:
    """Counts of an earlier training would be added to, and its record would be believed."""
    (build / "core" / "training.json").unlink(missing_ok=True)
    for pattern in ("**/*.gcda", "*.profraw", "*.profdata"):
        for path in build.glob(pattern):
            path.unlink()


def arguments(entry: Json) -> list[str]:
    words = [str(entry["workload"]), "--seed", str(entry["seed"]), "--min-seconds", "0"]
    for name, value in entry["params"].items():
        words += [f"--{name}", str(value)]
    return words


def run_workload(build: Path, hakbench: Path, entry: Json) -> Json:
    """Runs one workload under the counting library; gives the entry with what it did."""
    env = {
        "LD_PRELOAD": str(build / LIBRARY),
        "HAKMEM_STRICT": "1",
        "LLVM_PROFILE_FILE": str(build / "training-%p.profraw"),
    }
    record = json.loads(call([hakbench, *arguments(entry)], env))
    served = str(record["malloc_library"])
    if Path(served).resolve() != (build / LIBRARY).resolve():
        raise TrainingError(f"{entry['workload']} was served by {served}")
    return {**entry, "ops": record["ops"], "checksum": record["checksum"]}


def collect(build: Path) -> str:
    """The sha256 of all counts. clang's are merged into the one file that the build reads."""
    raw = sorted(build.glob("*.profraw"))
    if raw:
        call([profile_data_tool(), "merge", "-o", build / "trained.profdata", *raw], {})
    found = [*sorted(build.glob("**/*.gcda")), *sorted(build.glob("*.profdata"))]
    if not found:
        raise TrainingError("the training left no counts")
    digest = hashlib.sha256()
    for path in found:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def profile_data_tool() -> str:
    """llvm-profdata of the clang that compiles: another version does not read its counts."""
    version = call(["clang", "-dumpversion"], {}).split(".")[0]
    for name in (f"llvm-profdata-{version}", "llvm-profdata"):
        if shutil.which(name):
            return name
    raise TrainingError("llvm-profdata is not there; type: apt-get install llvm")


def train(build: Path, hakbench: Path) -> Json:
    workloads: list[Json] = json.loads(WORKLOADS.read_text(encoding="utf-8"))
    forget(build)
    compile_for(build, "generate")
    ran = [run_workload(build, hakbench, entry) for entry in workloads]
    training: Json = {"workloads": ran, "counts_sha256": collect(build)}
    compile_for(build, "use")
    return training


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    build, hakbench = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    try:
        training = train(build, hakbench)
    except (TrainingError, OSError, KeyError, ValueError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    (build / "core" / "training.json").write_text(json.dumps(training, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
