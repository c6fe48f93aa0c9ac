"""hakbench trace: the recorded traces on every allocator, traces with threads, damaged ones."""

import json
import os
import signal
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from test_hakbench import PEERS, start

ROOT = Path(__file__).resolve().parents[3]
TRACES = sorted((ROOT / "experiments" / "traces").glob("*.trace"))
HARNESS = Path(os.environ["HAK_BUILD"]) / "harness"

# Blocks of all kinds go from four threads to others; what is left is freed in a child.
PROGRAM = """
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>
std::mutex lock;
std::vector<void*> shared;
void work(unsigned seed) {
  for (int i = 0; i < 2000; ++i) {
    seed = seed * 1103515245 + 12345;
    const unsigned size = 1 + (seed >> 16) % 700;
    void* p = i % 5 == 0 ? aligned_alloc(64, 128) : i % 5 == 1 ? calloc(3, size) : malloc(size);
    if (i % 7 == 0) p = realloc(p, 1 + (seed >> 12) % 900);
    std::lock_guard<std::mutex> held(lock);
    shared.push_back(p);
    if (shared.size() < 100) continue;
    free(shared[size % 100]);
    shared[size % 100] = shared.back();
    shared.pop_back();
  }
}
int main() {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (auto& thread : threads) thread.join();
  if (fork() == 0) {
    for (void* p : shared) free(p);
    for (int i = 0; i < 50; ++i) { void* volatile p = malloc(40); free(p); }
    _exit(0);
  }
  int status;
  wait(&status);
  execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
}
"""


def replayed(file: Path, *arguments: str, preload: Path | None = None) -> dict[str, Any]:
    done = start("trace", str(file), "--min-seconds", "0.001", *arguments, preload=preload)
    assert (done.returncode, done.stderr) == (0, ""), done
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def record_of(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(w) for w in (HARNESS / "hak", "record", "-o", folder / "made.trace", "--", *command)],
        env={**os.environ, "HAK_ROOT": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def threaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("threaded")
    source, program = folder / "p.cpp", folder / "p"
    source.write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["c++", "-O1", "-pthread", str(source), "-o", str(program)], check=True)
    assert record_of(folder, program).returncode == 7
    return folder / "made.trace"


@pytest.mark.parametrize("file", TRACES, ids=[path.stem for path in TRACES])
def test_the_recorded_traces_give_one_checksum_on_every_allocator(file: Path) -> None:
    assert file.stat().st_size <= 1_000_000
    plain = replayed(file)
    assert file.stat().st_size <= 6 * plain["details"]["events"]
    assert plain["ops"] == plain["passes"] * plain["details"]["events"]
    for peer in PEERS.values():
        if peer.exists():
            assert replayed(file, preload=peer)["checksum"] == plain["checksum"]


def test_three_programs_are_recorded() -> None:
    assert {path.stem for path in TRACES} == {"gxx", "python3", "sqlite3"}


@pytest.mark.parametrize("threads", ["0", "2", "1"])
def test_threads_replay_the_same_each_time(threaded: Path, threads: str) -> None:
    first = replayed(threaded, "--threads", threads, "--verify")
    again = replayed(threaded, "--threads", threads, "--verify")
    assert first["checksum"] == again["checksum"]
    assert first["threads"] == (5 if threads == "0" else int(threads))
    assert first["details"]["recorded_threads"] == 5
    assert first["details"]["events"] > 15_000


def test_each_process_and_each_program_after_exec_has_a_file(threaded: Path) -> None:
    others = [threaded.with_name(f"made.trace.{i}") for i in (1, 2)]
    child = replayed(others[0])
    assert child["details"]["events"] >= 100
    assert all(path.exists() for path in others)


def test_events_are_what_the_program_did(tmp_path: Path) -> None:
    source, program = tmp_path / "p.c", tmp_path / "p"
    source.write_text(
        "#include <stdlib.h>\nint main(void) {\n"
        "  char* volatile p = malloc(100);\n  p = realloc(p, 5000);\n  free(p);\n"
        "  p = aligned_alloc(256, 512);\n  p = calloc(7, 11);\n  return 0;\n}\n",
        encoding="utf-8",
    )
    subprocess.run(["cc", "-fno-builtin", str(source), "-o", str(program)], check=True)
    assert record_of(tmp_path, program).returncode == 0
    payload = (tmp_path / "made.trace").read_bytes()[64:]

    def numbers(*values: int) -> bytes:
        out = bytearray()
        for value in values:
            while value >= 0x80:
                out.append(value & 0x7F | 0x80)
                value >>= 7
            out.append(value)
        return bytes(out)

    assert payload.endswith(
        numbers(100 << 3, 0 << 3 | 3, 5000, 0 << 3 | 2, 8 << 3 | 4, 512, 77 << 3 | 1)
    )


ENDLESS = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  for (int i = 0;; ++i) {
    free(malloc(24 + i % 100));
    if (i == 5000) puts("ready"), fflush(stdout);
  }
}
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("by_terminal", [False, True])
def test_a_stopped_program_has_a_whole_trace(
    tmp_path: Path, number: signal.Signals, by_terminal: bool
) -> None:
    (tmp_path / "p.c").write_text(ENDLESS, encoding="utf-8")
    program = tmp_path / "p"
    command = ["cc", "-fno-builtin", str(tmp_path / "p.c"), "-o", str(program)]
    subprocess.run(command, check=True)
    made = tmp_path / "made.trace"
    with subprocess.Popen(
        [str(HARNESS / "hak"), "record", "-o", str(made), "--", str(program)],
        env={**os.environ, "HAK_ROOT": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as hak:
        assert hak.stdout is not None and hak.stdout.readline() == "ready\n"
        if by_terminal:  # a terminal's signal reaches all processes of its group
            os.killpg(hak.pid, number)
        else:
            hak.send_signal(number)
        _, said = hak.communicate(timeout=60)
    assert hak.returncode == 128 + number, said
    assert "events, 1 threads" in said
    assert replayed(made)["details"]["events"] >= 10_000


def damaged(kind: str) -> bytes:
    good = bytearray(TRACES[0].read_bytes())
    if kind == "another version":
        good[8:12] = struct.pack("<I", 2)
    elif kind == "is damaged":
        good[-1] ^= 1
    elif kind == "is not a trace":
        good[0] = 0
    elif kind == "is cut":
        del good[1000:]
    elif kind == "within its header":
        del good[30:]
    return bytes(good)


@pytest.mark.parametrize(
    "kind",
    ["another version", "is damaged", "is not a trace", "is cut", "within its header"],
)
def test_a_damaged_trace_is_one_line(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "bad.trace"
    file.write_bytes(damaged(kind))
    done = start("trace", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"hakbench: {file}: ") and kind in done.stderr
    assert done.stderr.count("\n") == 1


def test_trace_without_a_file_and_record_without_a_command(tmp_path: Path) -> None:
    assert "needs the file" in start("trace").stderr
    done = record_of(tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("hak: usage: hak record")
