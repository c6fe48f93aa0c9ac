"""What pytest has to know of these tests."""

import sys
from pathlib import Path

import pytest

# They share the reading of machine code with the checks of boxes, and of heap profiles with the
# analysis.
for folder in ("analysis", "boxes"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / folder))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out unless slow tests are asked for")
