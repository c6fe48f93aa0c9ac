"""What `meson install` puts in place serves a program that finds it by pkg-config."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from disassembly import output_of
from preload import BUILD
from test_binaries import listed

PROGRAM = """
#include <hakmem.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  struct hakmem_stats before, after;
  hakmem_get_stats(&before);
  void* volatile block = malloc(100000);
  hakmem_get_stats(&after);
  printf("%s %d\\n", hakmem_version(), after.large_allocs > before.large_allocs);
  free(block);
  return 0;
}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prefix below a DESTDIR. Only what is built is installed."""
    root = tmp_path_factory.mktemp("root")
    env = {**os.environ, "DESTDIR": str(root)}
    targets = ["core/libhakmem.so", "core/libhakmem-lab.so", "core/package/libhakmem.a"]
    subprocess.run(["ninja", "-C", str(BUILD), *targets], check=True, capture_output=True)
    command = ["meson", "install", "-C", str(BUILD), "--no-rebuild", "--tags", "devel,runtime"]
    subprocess.run(command, env=env, check=True, capture_output=True)
    (header,) = root.rglob("hakmem.h")
    return header.parents[1]


def library_folder(installed: Path) -> Path:
    (found,) = installed.rglob("hakmem.pc")
    return found.parents[1]


def pkg_config(installed: Path, *words: str) -> list[str]:
    env = {
        **os.environ,
        "PKG_CONFIG_LIBDIR": str(library_folder(installed) / "pkgconfig"),
    }
    command = ["pkg-config", f"--define-variable=prefix={installed}", *words, "hakmem"]
    return subprocess.run(
        command, env=env, check=True, capture_output=True, text=True
    ).stdout.split()


def compiled(installed: Path, folder: Path, *link: str, static: bool = False) -> Path:
    source = folder / "program.c"
    source.write_text(PROGRAM, encoding="utf-8")
    binary = folder / "program"
    flags = pkg_config(installed, "--cflags", "--libs", *(["--static"] if static else []))
    subprocess.run(["cc", str(source), "-o", str(binary), *link, *flags], check=True)
    return binary


def version(installed: Path) -> str:
    return pkg_config(installed, "--modversion")[0]


def test_a_program_finds_the_shared_library_by_its_soname(installed: Path, tmp_path: Path) -> None:
    binary = compiled(installed, tmp_path)
    assert "[libhakmem.so.0]" in output_of("readelf", "-d", binary)
    assert (library_folder(installed) / "libhakmem.so.0").exists()
    env = {"LD_LIBRARY_PATH": str(library_folder(installed))}
    said = subprocess.run([binary], env=env, check=True, capture_output=True, text=True)
    assert (said.stdout, said.stderr) == (f"{version(installed)} 1\n", "")


def test_a_static_program_has_the_allocator_inside(installed: Path, tmp_path: Path) -> None:
    binary = compiled(installed, tmp_path, "-static", static=True)
    assert "NEEDED" not in output_of("readelf", "-d", binary)
    said = subprocess.run([binary], env={"LC_ALL": "C"}, check=True, capture_output=True, text=True)
    assert (said.stdout, said.stderr) == (f"{version(installed)} 1\n", "")


def test_the_archive_is_one_member_with_the_names_of_the_list(installed: Path) -> None:
    archive = library_folder(installed) / "libhakmem.a"
    assert len(output_of("ar", "t", archive).split()) == 1
    lines = output_of("nm", "--defined-only", "--extern-only", archive).splitlines()
    names = {line.split()[2] for line in lines if re.match(r"[0-9a-f]{16} ", line)}
    assert names == listed()
