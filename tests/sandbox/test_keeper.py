"""What a process started ends with it, also where there is no /proc."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STARTS = """
import os, signal, subprocess, sys
sys.path.insert(0, sys.argv[1])
from console.sandbox import keeper
sys.platform = sys.argv[2]
pause = [sys.executable, "-S", "-c", "import signal; signal.pause()"]
nested = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
child = subprocess.Popen([sys.executable, "-S", "-c", nested, *pause], start_new_session=True)
while len(keeper.descendants(os.getpid())) < 2:
    pass
keeper.end_descendants()
print(child.wait(), len(keeper.descendants(os.getpid())))
"""


@pytest.mark.skipif(not Path("/bin/ps").exists(), reason="there is no ps")
def test_descendants_in_other_sessions_are_found_and_ended_by_ps() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", STARTS, str(ROOT), "darwin"], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.stdout == "-9 0\n", ran.stderr
