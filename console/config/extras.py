"""Optional parts of the program: how to add one to this copy, wherever it was installed from."""

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from console.core.json_text import as_object, read_json

_NAME = "eval-console"
_CHECKOUT = Path(__file__).resolve().parents[2]


def install_command(extra: str) -> str:
    """Return the command that installs an extra for this copy: from its checkout, its address or its index.

    The name alone could be another project's on the user's index.
    """
    origin = _origin()
    address = str(origin.get("url", ""))
    if (_CHECKOUT / "pyproject.toml").is_file():
        return _in_folder(_CHECKOUT, f"-e '.[{extra}]'")
    if address.startswith("file:") and os.path.isdir(folder := unquote(urlsplit(address).path)):
        return _in_folder(Path(folder), f"'.[{extra}]'")
    if address:
        revision = origin.get("vcs_info")
        address = f"{revision['vcs']}+{address}@{revision['commit_id']}" if revision else address
        return f"{_installer()} {shlex.quote(f'{_NAME}[{extra}] @ {address}')}"
    return f"{_installer()} '{_NAME}[{extra}]'"


def _origin() -> dict[str, Any]:
    """Return where pip found this copy (PEP 610); empty if an index had it, or pip did not install it."""
    import importlib.metadata

    try:
        text = importlib.metadata.distribution(_NAME).read_text("direct_url.json")
        return as_object(read_json(text)) if text else {}
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return {}


def _in_folder(folder: Path, requirement: str) -> str:
    """Return a command that is given in a folder."""
    is_here = folder == Path.cwd()
    return f"{'' if is_here else f'cd {shlex.quote(str(folder))} && '}{_installer(folder)} {requirement}"


def _installer(folder: Path | None = None) -> str:
    """Return the installer of this environment, as it is called in a folder."""
    if Path(sys.prefix, "uv-receipt.toml").exists():
        return "uv tool install"
    pip = Path(sys.prefix, "bin", "pip")
    if not pip.exists() or shutil.which("pip") == str(pip):
        return "pip install"
    if folder is not None and pip.is_relative_to(folder):
        pip = pip.relative_to(folder)
    return f"{shlex.quote(str(pip))} install"
