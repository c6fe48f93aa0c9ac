"""`python3 -m hakmem_analysis`."""

import sys

from .cli import main

sys.exit(main())
