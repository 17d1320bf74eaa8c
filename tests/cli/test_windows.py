"""Windows: nothing that is missing there is imported, and one sentence says what works."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ON_WINDOWS = """
import sys
sys.platform = "win32"
for name in ("fcntl", "termios", "resource", "pwd", "grp", "tty", "pty"):
    sys.modules[name] = None
from console.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_every_command_names_wsl_and_imports_nothing() -> None:
    for line in ([], ["--help"], ["run", "-m", "sim/careful", "-s", "aidan-starter"]):
        done = subprocess.run(
            [sys.executable, "-c", ON_WINDOWS, *line], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 2
        assert done.stderr.splitlines()[0] == "eval-console: Windows is supported through WSL 2 only"
        assert done.stdout == ""
