"""The reader's own editor, which has the terminal for as long as it is open."""

import os
import shlex
import subprocess
from pathlib import Path

from textual.app import SuspendNotSupported

from console.core.fault import UsageError
from console.tui.sanitize import literal
from console.tui.services import Services


def edit_file(services: Services, path: Path) -> None:
    """Open a file in $VISUAL, $EDITOR or vi and wait until it is closed; says so if it cannot be."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        with services.suspend():
            subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603  the reader's own editor
    except (OSError, ValueError, SuspendNotSupported) as error:
        refusal = UsageError(f"{path.name} cannot be edited with {editor!r}: {error}", hint="Set EDITOR.")
        services.notify(literal(str(refusal), 600), severity="error")
