"""Kind 27: real programs give the same output and exit status under each library as without."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from preload import DEPCHAIN, LIBRARIES, Arm, environment, program, run

BASH = """
set -e
declare -A words
for i in $(seq 1 3000); do words[w$((i % 97))]+="$i "; done
for key in "${!words[@]}"; do echo "$key ${#words[$key]}"; done | sort
x=$(printf 'a%.0s' $(seq 1 5000)); echo ${#x}
(echo sub; exit 3) || echo "status $?"
for i in 1 2 3 4; do (echo "$i" | tr 1234 abcd); done
[[ "$x" =~ a+ ]] && echo matched
exit 7
"""
PYTHON = """
import json, re, sqlite3, subprocess, sys, threading, zlib
words = {str(i): [i] * (i % 50) for i in range(20000)}
text = json.dumps(words)
print(len(text), zlib.crc32(text.encode()), len(re.findall("[0-9]+", text)))
total = [0] * 8
def work(n):
    total[n] = sum(len(str(i) * (i % 7)) for i in range(20000))
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(total)
db = sqlite3.connect(":memory:")
db.execute("create table t (a, b)")
db.executemany("insert into t values (?, ?)", ((i, str(i) * 20) for i in range(5000)))
print(db.execute("select count(*), sum(length(b)) from t where b like '%9%'").fetchone())
print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout)
import os
for _ in range(20):
    if (pid := os.fork()) == 0:
        words.clear(); os._exit(len(list(range(1000))) % 7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), end=" ")
sys.exit(5)
"""
PERL = r"""
my %h; for my $i (1..50000) { $h{"k".($i % 997)} .= "$i,"; }
my $n = 0; for my $k (sort keys %h) { $n += length $h{$k}; }
print "$n\n"; my @a = map { $_ x 10 } 1..20000; print scalar(@a), "\n";
my $s = join "", @a; my @m = ($s =~ /(\d{3}7)/g); print scalar(@m), "\n"; exit 4;
"""
SQL = """
create table t (id integer primary key, a text, b real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into t select i, hex(i * 7919) || 'x', i / 3.0 from n;
create index ta on t (a);
select count(*), round(sum(b), 3) from t where a like '%3%';
select a, count(*) from t group by substr(a, 1, 3) order by 2 desc, 1 limit 5;
"""
CPP = """
#include <map>
#include <regex>
#include <string>
#include <vector>
template <int N> struct Fib { static constexpr long value = Fib<N - 1>::value + Fib<N - 2>::value; };
template <> struct Fib<1> { static constexpr long value = 1; };
template <> struct Fib<0> { static constexpr long value = 0; };
int main() { std::map<std::string, std::vector<std::regex>> m; return m.size() + Fib<40>::value % 7; }
"""
LUA = """
local t = {} for i = 1, 100000 do t[i] = tostring(i) .. string.rep("x", i % 13) end
table.sort(t) print(#t, #table.concat(t)) os.exit(6)
"""
NODE = """
const a = []; for (let i = 0; i < 50000; i++) a.push({i, s: 'x'.repeat(i % 50)});
console.log(a.reduce((n, o) => n + o.s.length, 0)); process.exitCode = 3;
"""
GIT = """
set -e
rm -rf repo && git init -q repo && cd repo
git config user.name test && git config user.email test@example.org
for i in $(seq 1 60); do echo "line $i" >>file; echo "$i" >f$i; done
git add . && git commit -qm first
for i in 1 2 3 4 5; do seq $i 2000 >>file; git commit -qam "change $i"; done
git log --stat --format=%s && git diff HEAD~3 --shortstat && git blame file | wc -l
git gc -q && git fsck && git status --short && git grep -c 7
"""

COMMANDS: dict[str, list[str]] = {
    "bash": ["bash", "-c", BASH],
    "git": ["bash", "-c", GIT],
    "perl": ["perl", "-e", PERL],
    "python3": ["python3", "-c", PYTHON],
    "sqlite3": ["sqlite3", ":memory:", SQL],
    "lua5.4": ["lua5.4", "-e", LUA],
    "node": ["node", "-e", NODE],
    "gdb": [
        "gdb",
        "-q",
        "-batch",
        "-nx",
        "-ex",
        "p 6*7",
        "-ex",
        "info functions puts",
        "/bin/true",
    ],
}
DATES = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
ENV = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", **DATES}


def outcome(arm: Arm | None, command: list[str], cwd: Path) -> tuple[int, str, str]:
    done = run(arm, command, env={**ENV, "HOME": str(cwd)}, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("arm", [*LIBRARIES, DEPCHAIN], ids=str)
@pytest.mark.parametrize("name", COMMANDS)
def test_k27_same_output_and_status(arm: Arm, name: str, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    without = outcome(None, COMMANDS[name], tmp_path)
    assert without[0] in (0, 3, 4, 5, 6, 7), without
    assert outcome(arm, COMMANDS[name], tmp_path) == without


@pytest.mark.parametrize("arm", [*LIBRARIES, DEPCHAIN], ids=str)
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_k27_compilers_make_the_same_object(arm: Arm, compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    (tmp_path / "a.cpp").write_text(CPP, encoding="utf-8")
    objects = []
    for which in (None, arm):
        status, _, errors = outcome(which, [compiler, "-O1", "-c", "a.cpp", "-o", "a.o"], tmp_path)
        assert status == 0, errors
        objects.append((tmp_path / "a.o").read_bytes())
    assert objects[0] == objects[1]


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
def test_k27_redis(arm: Arm, tmp_path: Path) -> None:
    if shutil.which("redis-server") is None or shutil.which("redis-cli") is None:
        pytest.skip("redis is not installed")
    socket = tmp_path / "socket"
    command = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--dir", str(tmp_path)]
    server = subprocess.Popen(
        [*command, "--save", ""], env=environment(arm), stdout=subprocess.DEVNULL
    )
    try:
        client = ["redis-cli", "-s", str(socket)]
        for _ in range(200):
            if run(None, [*client, "ping"]).stdout == "PONG\n":
                break
        script = "for i = 1, 20000 do redis.call('set', 'k' .. i, string.rep('v', i % 300)) end "
        script += (
            "for i = 1, 20000, 2 do redis.call('del', 'k' .. i) end return redis.call('dbsize')"
        )
        assert run(None, [*client, "eval", script, "0"]).stdout == "10000\n"
        assert run(None, [*client, "save"]).stdout == "OK\n"
        assert run(None, [*client, "get", "k298"]).stdout == "v" * 298 + "\n"
    finally:
        server.terminate()
        assert server.wait(timeout=30) == 0


@pytest.mark.parametrize("arm", LIBRARIES, ids=str)
@pytest.mark.parametrize("threads", [1, 4])
def test_stress_under_preload(arm: Arm, threads: int) -> None:
    done = run(arm, [program("stress"), str(threads), "10", "5000"])
    assert (done.returncode, done.stderr) == (0, ""), done


@pytest.mark.slow
@pytest.mark.parametrize("arm", [*LIBRARIES, DEPCHAIN], ids=str)
def test_larson_does_not_grow(arm: Arm) -> None:
    done = run(arm, [program("larson"), "8", "150", "100000"], timeout=600)
    assert (done.returncode, done.stderr) == (0, ""), done


@pytest.mark.slow
@pytest.mark.parametrize("arm", [*LIBRARIES, DEPCHAIN], ids=str)
def test_long_stress(arm: Arm) -> None:
    done = run(arm, [program("stress"), "8", "100", "20000"], timeout=600)
    assert (done.returncode, done.stderr) == (0, ""), done


@pytest.mark.slow
def test_thousands_of_forks() -> None:
    done = run(LIBRARIES[0], [program("k13_fork"), "3000"], timeout=600)
    assert (done.returncode, done.stderr) == (0, ""), done
