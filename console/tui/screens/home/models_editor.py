"""`EditsModels`: how a place opens models.toml in the reader's editor."""

import os
from pathlib import Path

from textual.app import SuspendNotSupported

from console.core.fault import UsageError
from console.tui.sanitize import literal
from console.tui.screens.base import BaseScreen
from console.tui.screens.home.models_template import write_example


class EditsModels(BaseScreen):
    """A place from which models.toml can be edited."""

    def action_models_edit(self) -> None:
        """Open models.toml in the reader's editor, made from an example if there is none, then read it again."""
        import shlex  # both here, as Home is the first frame and this is rare
        import subprocess

        models = self.services.workspace.models
        path = (models.path if models else None) or self.services.paths.models or Path("models.toml")
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            write_example(path)
            with self.services.suspend():
                subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603  the reader's own editor
        except (OSError, ValueError, SuspendNotSupported) as error:
            self.refuse(UsageError(f"{path.name} cannot be edited with {editor!r}: {error}", hint="Set EDITOR."))
        self.services.workspace.read_models()

    def refuse(self, error: UsageError) -> None:
        """Say why something cannot be done, and what would help."""
        self.services.notify(literal(str(error), 600), severity="error")
