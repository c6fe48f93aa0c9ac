"""hak layout: links of the same objects in another order, and a whole run of two of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import layout
import links
from compliance import Checked, changed_entries
from registry import BUILD, ROOT, boxes

needs_lld = pytest.mark.skipif(shutil.which("ld.lld") is None, reason="lld is not installed")
needs_standard = pytest.mark.skipif(
    not (BUILD / "harness/hakbench/hakbench").exists(), reason="the build has no hakbench"
)


def addresses(library: Path) -> dict[str, int]:
    made = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"([0-9a-f]+) [tT] (\S+)$", made, re.MULTILINE)
    return {name: int(address, 16) for address, name in found}


@needs_lld
def test_two_seeds_are_two_layouts(tmp_path: Path) -> None:
    first, again, other = (
        links.make_link(BUILD, tmp_path / name, 1, seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first.lab.read_bytes() == again.lab.read_bytes()
    own, others = addresses(first.lab), addresses(other.lab)
    moved = [name for name in own if name in others and own[name] != others[name]]
    assert len(moved) > len(own) / 2
    names = [name for name in own if re.match(r"hakmem_\w+_malloc$", name)]
    assert {own[name] % 4096 for name in names} != {0}
    assert all(own[name] % 64 == 0 for name in names)


@needs_lld
def test_a_link_works_and_its_code_is_the_same(tmp_path: Path) -> None:
    link = links.make_link(BUILD, tmp_path, 1, 3)
    for library in (link.out, link.lab):
        env = {"LD_PRELOAD": str(library), "HAKMEM_STRICT": "1", "PATH": "/usr/bin:/bin"}
        words = ["/bin/echo", "main"]
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "main\n", "")


def test_the_control_has_the_code_of_the_baseline() -> None:
    known = boxes()
    if json.loads((BUILD / "core/build.json").read_text())["profile"] == "observe":
        pytest.skip("the observe build counts in it")
    assert changed_entries(Checked(ROOT, BUILD, known), known["shape_null"]) == []


@pytest.mark.parametrize("pad", [0, 1, 2, 239, 240, 241, 480, 481, 959])
def test_the_path_is_longer_by_the_pad(pad: int, tmp_path: Path) -> None:
    shortest = len(str(links.pad_path(tmp_path, 0)))
    path = links.pad_path(tmp_path, pad)
    assert len(str(path)) == shortest + pad
    path.mkdir(parents=True)


def test_the_script_names_every_variant_once() -> None:
    script = links.hot_script(["baseline", "x", "y"], 7)
    assert script.count("*(.hakmem.hot.") == 3
    assert script != links.hot_script(["baseline", "x", "y"], 8)


@needs_lld
@needs_standard
def test_a_short_run_of_two_links(tmp_path: Path) -> None:
    env = {**os.environ, "HAK_LOCK": str(tmp_path / "lock"), "HAK_ROOT": str(ROOT)}
    command = [sys.executable, str(ROOT / "boxes/layout.py"), "shape_null", "--links", "2"]
    command += ["--blocks", "2", "--seconds", "0.02", "--results", str(tmp_path)]
    experiment = tmp_path / "short.json"
    content = {
        "workloads": [{"name": "random_mixed", "params": {"ops": 20000}}],
        "timeout_seconds": 20,
        "void_limits": {"steal_pct": 100, "foreign_load_pct": 100},
    }
    experiment.write_text(json.dumps(content))
    command += ["--experiment", str(experiment)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "layout").glob("shape_null-*")
    plan = json.loads((folder / "layout.json").read_text())
    assert [link["number"] for link in plan["links"]] == [1, 2]
    record = json.loads((folder / "layout-verdict.json").read_text())
    assert record["effect"]["layouts"] == 2 and record["gate_and_layout_tax"]["layouts"] == 2
    assert record["enough_for_promotion"] is False
    text = (folder / "layout.md").read_text()
    assert "Standard deviation of layout" in text


@pytest.mark.parametrize(
    "words",
    [[], ["no_such_box"], ["shape_null", "--links", "1"], ["shape_null", "--blocks", "x"]],
)
def test_wrong_usage(words: list[str]) -> None:
    command = [sys.executable, str(ROOT / "boxes/layout.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("hak: layout: ") and done.stderr.count("\n") == 1


def test_what_the_treatment_requires_is_on_in_both_arms(tmp_path: Path) -> None:
    known = boxes()
    box = known["c7_ultra_alloc_depchain_opt"]
    link = links.Link(1, 1, 0, tmp_path / "libhakmem.so", tmp_path / "libhakmem-lab.so")
    made = layout.plan(box, link, {}, layout.parse([box.id]), known)
    off, on, out = made["arms"]
    assert off["env"] == {"HAKMEM_C7_ULTRA": "1", box.env: "0"}
    assert on["env"] == {"HAKMEM_C7_ULTRA": "1", box.env: "1"}
    assert "env" not in out and out["role"] == "reference"


def test_the_experiment_of_a_box_is_read_with_its_comments() -> None:
    found = layout.read_experiment(ROOT / "experiments" / "shape_null.json")
    assert found["box"] == "HAKMEM_SHAPE_NULL"
    assert layout.values_of(boxes()["shape_null"], found) == (0, 1)
