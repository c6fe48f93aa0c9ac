"""The scripts of ci/ import each other by their bare names, as they do when they are started."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
