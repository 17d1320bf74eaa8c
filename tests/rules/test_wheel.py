"""What an installed program carries: our own suites and styles, and nothing that was pulled."""

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling, the build backend, is not here")
def test_the_wheel_holds_our_suites_and_nothing_pulled(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for suite in ("bfcl-starter", "aidan-starter"):
        assert f"console/bundled/{suite}/suite.toml" in names
    assert "console/tui/console.tcss" in names
    assert "console/benchmarks/bfcl/models/profiles/registry.toml" in names
    assert "console/suites/templates/python/suite.py.template" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"console", "eval_console"}
    bundled = {name.split("/")[2] for name in names if name.startswith("console/bundled/")}
    assert all(name.endswith("-starter") for name in bundled)
    assert not [name for name in names if "__pycache__" in name or "/bfcl_eval/" in name]
