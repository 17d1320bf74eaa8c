"""What must not stand in a file of this project: addresses of registries, and paths of one machine."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REGISTRIES = re.compile(r"py[p]i\.org|python[h]osted|npm[j]s\.|deb\.debia[n]")
MACHINE = re.compile(r"(?<![\w./])/(?:work|farm|home/\w+|Users/\w+)/")


def _tracked() -> list[Path]:
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name]


def test_no_registry_and_no_machine_is_named():
    wrong = []
    for path in _tracked():
        if not path.is_file() or path.suffix in (".svg", ".png", ".gz"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        wrong += [f"{path.relative_to(ROOT)}: {match[0]}" for match in (REGISTRIES.search(text),) if match]
        if path.suffix in (".py", ".md", ".toml", ".txt", "") and path.name != Path(__file__).name:
            wrong += [f"{path.relative_to(ROOT)}: {match[0]}" for match in (MACHINE.search(text),) if match]
    assert wrong == []


def test_the_locked_set_is_hashed_and_has_no_address():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert "://" not in text
    names = re.findall(r"^([a-z0-9][\w.-]*)==", text, re.MULTILINE)
    assert {"textual", "openai", "litellm", "hatchling", "pytest"} <= set(names)
    blocks = re.split(r"^(?=[a-z0-9][\w.-]*==)", text, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in block for block in blocks)
