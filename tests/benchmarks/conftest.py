"""The benchmarks are scripts, which find one another because they lie in one folder."""

import sys
from pathlib import Path

# Last: nothing else may be found there by accident.
sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
