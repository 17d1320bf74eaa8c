"""Opening files and text in the user's editor or pager, with the app suspended."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.app import SuspendNotSupported
from textual.content import Content

from console.core.fault import UsageError, reason_of
from console.store.atomic import change_file
from console.tui.sanitize import one_line
from console.tui.services import Services


def edit_file(services: Services, path: Path) -> bool:
    """Open a file in $VISUAL, $EDITOR or vi and wait until it is closed; on failure, notify and return False."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        _open_in(services, shlex.split(editor), path)
    except (OSError, ValueError, SuspendNotSupported) as error:
        refusal = UsageError(f"{path.name} cannot be edited with {editor!r}: {reason_of(error)}", hint="Set EDITOR.")
        services.refuse(refusal)
        return False
    return True


def edit_text(services: Services, text: str, name: str) -> str | None:
    """Let the user edit text and return the result; on failure to open the editor, notify and return None.

    Raises:
        ValueError: the edited file is not UTF-8.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.txt")
        path.write_text(text, encoding="utf-8")
        return path.read_text(encoding="utf-8") if edit_file(services, path) else None


def page_text(services: Services, text: str, name: str) -> None:
    """Show text in the user's pager or editor."""
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
            services.notify(Content.assemble("Cannot open it: ", one_line(reason_of(error), 200)), severity="error")


def pager_command() -> list[str] | None:
    """Return the command of the user's pager or editor; None if there is none."""
    for name in ("PAGER", "VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(name, "")):
            return words
    less = shutil.which("less") or shutil.which("more")
    return [less] if less else None


def _open_in(services: Services, command: Sequence[str], path: Path) -> None:
    with services.suspend():
        subprocess.run([*command, str(path)], check=False)  # noqa: S603  the user's own program


EXAMPLE = """\
# The models that eval-console can use, one table each, under the name shown everywhere.
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
"""The initial models.toml: commented examples only."""


def edit_models(services: Services) -> None:
    """Open models.toml in the user's editor, creating it from an example if missing, then reload it."""
    models = services.workspace.models
    path = (models.path if models else None) or services.paths.models or Path("models.toml")
    try:
        change_file(path, lambda before: EXAMPLE.encode() if before is None else before)
    except UsageError as error:
        services.refuse(error)
        return
    edit_file(services, path)
    services.workspace.read_models()
