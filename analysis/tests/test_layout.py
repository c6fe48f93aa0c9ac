"""hak layout's analysis: the layouts are the sample, whatever the number of blocks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from synthetic import Fake, Json, make_run

from hakmem_analysis.cli import main
from hakmem_analysis.layout import read_layout, write_report


def make_layouts(
    folder: Path, effects: list[float], blocks: int = 5, tax: float = 2.0, sd_pct: float = 0.2
) -> Path:
    """One link an effect of `on` against `off` in %; `out` is faster than `off` by `tax` %."""
    links: list[Json] = []
    for number, effect in enumerate(effects, 1):
        fake = Fake(
            blocks=blocks,
            seed=number,
            sd_pct=sd_pct,
            effects={"on": effect},
            values={"baseline": "0", "on": "1"},
            references={"out": 100.0 + tax},
        )
        run = make_run(folder / f"links/{number:02}/layout/run", fake)
        for name in ("manifest.json", "samples.jsonl"):
            text = (run / name).read_text().replace('"baseline"', '"off"')
            text = text.replace('"role": "off"', '"role": "baseline"')
            (run / name).write_text(text)
        relative = run.relative_to(folder).as_posix()
        links.append({"number": number, "seed": number, "pad_bytes": 7 * number, "run": relative})
    plan = {"format": 1, "box": "HAKMEM_SHAPE_NULL", "values": [0, 1], "cell": "random_mixed"}
    (folder / "layout.json").write_text(json.dumps({**plan, "links": links}))
    return folder


def test_an_effect_in_every_layout_is_go(tmp_path: Path) -> None:
    report = read_layout(make_layouts(tmp_path, [3.0, 3.1, 2.9, 3.0, 3.2, 2.8, 3.0, 3.0]))
    assert report.effect.effect.word.text in ("GO", "STRONG GO")
    assert report.effect.delta_pct == pytest.approx(3.0, abs=0.4)
    assert report.is_enough


def test_an_effect_of_one_layout_is_none(tmp_path: Path) -> None:
    """Forty blocks of the first layout alone would say GO; eight layouts do not."""
    effects = [4.0, -3.0, 2.0, -4.0, 3.0, -2.0, 1.0, -1.0]
    report = read_layout(make_layouts(tmp_path, effects))
    found = report.effect.effect
    assert found.word.text == "UNDECIDED"
    assert found.share > 0.8
    assert 100 * found.layout_sd == pytest.approx(np.std(effects, ddof=1), rel=0.3)


def test_more_blocks_do_not_make_more_layouts(tmp_path: Path) -> None:
    effects = [4.0, -3.0, 2.0, -4.0]
    few = read_layout(make_layouts(tmp_path / "few", effects, blocks=4)).effect
    many = read_layout(make_layouts(tmp_path / "many", effects, blocks=60)).effect
    width = [part.ci95_pct[1] - part.ci95_pct[0] for part in (few, many)]
    assert width[1] > 0.8 * width[0]
    assert not read_layout(tmp_path / "many").is_enough


def test_the_tax_is_off_against_out(tmp_path: Path) -> None:
    report = read_layout(make_layouts(tmp_path, [0.0] * 8, tax=5.0))
    assert report.tax is not None
    assert report.tax.delta_pct == pytest.approx(100 / 1.05 - 100, abs=0.5)
    assert report.effect.effect.word.text == "NEUTRAL"


def test_files_are_written_and_hold_no_nan(tmp_path: Path) -> None:
    folder = make_layouts(tmp_path, [1.0, 2.0, 3.0])
    write_report(folder)
    text = (folder / "layout.md").read_text()
    assert "HAKMEM_SHAPE_NULL" in text and "Share of variance" in text and "nan" not in text
    assert text.count("\n| 1 | 1 | 7 |") == 1
    record = json.loads((folder / "layout-verdict.json").read_text())
    assert record["enough_for_promotion"] is False
    assert len(record["effect"]["means_pct"]) == 3
    assert (folder / "plots/layouts.svg").read_text().startswith("<?xml")
    first = (folder / "layout.md").read_bytes()
    write_report(folder)
    assert (folder / "layout.md").read_bytes() == first


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_layouts(tmp_path, [1.0, 2.0, 3.0])
    assert main(["layout-report", str(folder)]) == 0
    assert "layout.md" in capsys.readouterr().out


def test_one_layout_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_layouts(tmp_path, [1.0])
    assert main(["layout-report", str(folder)]) == 4
    assert "fewer than two" in capsys.readouterr().err


def test_a_link_without_blocks_is_named(tmp_path: Path) -> None:
    folder = make_layouts(tmp_path, [1.0, 2.0, 3.0])
    samples = folder / "links/02/layout/run/samples.jsonl"
    samples.write_text("")
    report = read_layout(folder)
    assert report.effect.effect.layouts == 2
    assert any(text.startswith("link 2:") for text in report.warnings)
