"""A copy of the launcher on a machine of our own making: its PATH holds only what a test puts there."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

ORDINARY = (
    "sh cat cp cut dirname env flock grep head mkdir mktemp readlink rm sed sort tail touch tr"
).split()

DPKG_QUERY = """
for name in "$@"; do
  grep -qxF -- "$name" "$MACHINE/installed" 2>/dev/null && echo "installed $name"
done
exit 1
"""

APT_GET = """
echo "apt-get $*" >>"$MACHINE/calls"
case "$*" in
  *update*) exit 0 ;;
esac
[ ! -f "$MACHINE/no-network" ] || {
  echo "E: Failed to fetch some-mirror/pool/g++.deb  Temporary failure resolving"
  exit 100
}
for word in "$@"; do
  case $word in -* | install) ;; *) echo "$word" >>"$MACHINE/installed" ;; esac
done
"""

APT_CACHE = """
grep -qxF -- "$2" "$MACHINE/known" && printf '%s:\\n  Candidate: 1.0\\n' "$2"
"""

MESON = """
echo "meson $*" >>"$MACHINE/calls"
[ ! -f "$MACHINE/broken" ] || { echo "ERROR: no compiler that works"; exit 1; }
mkdir -p "$2"
touch "$2/build.ninja"
"""

NINJA = """
dir=$2
shift 2
case $1 in
  -t) printf 'harness/hak: cpp_LINKER\\ncore/tests/arena: cpp_LINKER\\nx.o: cpp_COMPILER\\n'; exit ;;
  -n) [ -f "$dir/built" ] && echo 'ninja: no work to do.'; exit 0 ;;
esac
echo "ninja $*" >>"$MACHINE/calls"
touch "$dir/built"
mkdir -p "$dir/harness"
cp "$MACHINE/program" "$dir/harness/hak"
"""

PROGRAM = """#!/bin/sh
printf 'arguments:'
printf ' [%s]' "$@"
printf '\\npwd: %s\\nroot: %s\\nbuild: %s\\npython: %s\\n' "$PWD" "$HAK_ROOT" "$HAK_BUILD" "$HAK_PYTHON"
"""


class Sandbox:
    """A machine with apt, no terminal, and a user who is not root, until a test says otherwise."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a clone"
        self.machine = folder / "machine"
        self.bin = self.machine / "bin"
        (self.root / "ci").mkdir(parents=True)
        for name in ("hak", "ci/setup.sh", "ci/build.sh", "ci/packages.txt"):
            shutil.copy(ROOT / name, self.root / name)
        self.bin.mkdir(parents=True)
        for name in ORDINARY:
            found = shutil.which(name)
            assert found is not None, name
            (self.bin / name).symlink_to(found)
        for name, body in {
            "dpkg-query": DPKG_QUERY,
            "apt-get": APT_GET,
            "apt-cache": APT_CACHE,
            "meson": MESON,
            "ninja": NINJA,
            "pkg-config": "exit 0",
        }.items():
            self.command(name, body)
        self.user(1000)
        program = self.machine / "program"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        self.know(*self.names())
        self.install(*self.names())

    def command(self, name: str, body: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def user(self, number: int) -> None:
        self.command("id", f"echo {number}")

    def sudo(self) -> None:
        self.command("sudo", 'echo "sudo $*" >>"$MACHINE/calls"\nexec "$@"')

    def names(self) -> list[str]:
        """First name of every package of the list."""
        lines = (self.root / "ci/packages.txt").read_text().splitlines()
        return [line.split()[0].split("|")[0] for line in lines if line and line[0] not in "#["]

    def packages(self, text: str) -> None:
        (self.root / "ci/packages.txt").write_text(text)

    def install(self, *names: str) -> None:
        (self.machine / "installed").write_text("".join(f"{name}\n" for name in names))

    def know(self, *names: str) -> None:
        (self.machine / "known").write_text("".join(f"{name}\n" for name in names))

    def flag(self, name: str) -> None:
        (self.machine / name).touch()

    def calls(self) -> list[str]:
        path = self.machine / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def environment(self, extra: dict[str, str]) -> dict[str, str]:
        return {"PATH": str(self.bin), "MACHINE": str(self.machine), "HOME": "/", **extra}

    def hak(
        self, *words: str, cwd: Path | None = None, program: Path | None = None, **extra: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program or self.root / "hak", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=cwd or self.machine,
            env=self.environment(extra),
            timeout=60,
            check=False,
        )

    def hak_on_terminal(self, answer: str, *words: str) -> tuple[int, str]:
        """Exit status and what the terminal showed."""
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [self.root / "hak", *words],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            cwd=self.machine,
            env=self.environment({}),
        )
        os.close(follower)
        os.write(leader, f"{answer}\n".encode())
        shown = b""
        try:
            while part := os.read(leader, 4096):
                shown += part
        except OSError:  # the other end was closed
            pass
        os.close(leader)
        return process.wait(60), shown.decode()
