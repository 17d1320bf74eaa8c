"""The reader's own editor and pager, which have the terminal for as long as they are open, and models.toml in it."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.app import SuspendNotSupported
from textual.content import Content

from console.core.fault import UsageError
from console.tui.sanitize import one_line
from console.tui.services import Services


def edit_file(services: Services, path: Path) -> bool:
    """Open a file in $VISUAL, $EDITOR or vi and wait until it is closed; say why and return False if it cannot be."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        _open_in(services, shlex.split(editor), path)
    except (OSError, ValueError, SuspendNotSupported) as error:
        refusal = UsageError(f"{path.name} cannot be edited with {editor!r}: {error}", hint="Set EDITOR.")
        services.refuse(refusal)
        return False
    return True


def edit_text(services: Services, text: str, name: str) -> str | None:
    """Return a text as the reader has changed it; None if it cannot be opened, which has been said then.

    Raises:
        ValueError: what the reader's editor left is no UTF-8.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.txt")
        path.write_text(text, encoding="utf-8")
        return path.read_text(encoding="utf-8") if edit_file(services, path) else None


def page_text(services: Services, text: str, name: str) -> None:
    """Show a text in the reader's pager or editor."""
    command = pager_command()
    if command is None:
        services.notify(Content("Set PAGER or EDITOR to open a case in it."))
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.txt")
        path.write_text(text, encoding="utf-8")
        try:
            _open_in(services, command, path)
        except (OSError, SuspendNotSupported) as error:
            services.notify(Content.assemble("It cannot be opened: ", one_line(str(error), 200)), severity="error")


def pager_command() -> list[str] | None:
    """Return the reader's pager or editor as a command, or None when there is none."""
    for name in ("PAGER", "VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(name, "")):
            return words
    less = shutil.which("less") or shutil.which("more")
    return [less] if less else None


def _open_in(services: Services, command: Sequence[str], path: Path) -> None:
    with services.suspend():
        subprocess.run([*command, str(path)], check=False)  # noqa: S603  the reader's own program


EXAMPLE = """\
# The models that eval-console can ask, one table each; the name in brackets is what you see everywhere.
# Keys stay in the environment: api_key_env names the variable. Prices are USD per million tokens.
# The simulated models (sim/careful, sim/hasty, …) are always there and need no line here.

# [gpt]
# model_id = "gpt-4o-mini"
# api_key_env = "OPENAI_API_KEY"
# price = { in = 0.15, out = 0.60 }

# [local]
# model_id = "the-name-your-server-uses"
# base_url = "http://localhost:8000/v1"
"""
"""The first models.toml of somebody who has none: every line explained, nothing in it asked until it is filled in."""


def edit_models(services: Services) -> None:
    """Let the reader edit models.toml, made from an example if there is none, then read it again."""
    models = services.workspace.models
    path = (models.path if models else None) or services.paths.models or Path("models.toml")
    try:
        if not path.exists():
            path.write_text(EXAMPLE, encoding="utf-8")
    except OSError as error:
        services.refuse(UsageError(f"{path} cannot be written: {error.strerror}"))
        return
    edit_file(services, path)
    services.workspace.read_models()
