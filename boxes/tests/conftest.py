"""Tests import the scripts of boxes/ by their bare names, as these import each other."""

import shutil
import sys
from pathlib import Path

import pytest

BOXES = Path(__file__).resolve().parent.parent
ROOT = BOXES.parent
sys.path.insert(0, str(BOXES))

TREE = ("boxes", "core", "harness", "analysis", "ci")
FILES = ("hak", "meson.build", "meson_options.txt")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out unless slow tests are asked for")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the sources, without experiments and results."""
    copy = tmp_path / "copy"
    (copy / "experiments").mkdir(parents=True)
    left_out = shutil.ignore_patterns("__pycache__", ".mypy_cache")
    for name in TREE:
        shutil.copytree(ROOT / name, copy / name, ignore=left_out)
    for name in FILES:
        shutil.copy(ROOT / name, copy / name)
    return copy
