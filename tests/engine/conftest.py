"""Makes the modules beside these tests importable, in this process and in the harness."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
