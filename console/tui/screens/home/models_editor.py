"""`ModelsEditor`: `e` opens models.toml in the reader's editor."""

import os
from pathlib import Path

from textual.app import SuspendNotSupported

from console.core.fault import UsageError
from console.tui.sanitize import literal
from console.tui.services import Services

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


class ModelsEditor:
    """Edits the models file."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def action_models_edit(self) -> None:
        """Open models.toml in the reader's editor, made from an example if there is none, then read it again."""
        import shlex  # both here, as Home is the first frame and this is rare
        import subprocess

        services = self._services
        models = services.workspace.models
        path = (models.path if models else None) or services.paths.models or Path("models.toml")
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            if not path.exists():
                path.write_text(EXAMPLE, encoding="utf-8")
            with services.suspend():
                subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603  the reader's own editor
        except (OSError, ValueError, SuspendNotSupported) as error:
            refusal = UsageError(f"{path.name} cannot be edited with {editor!r}: {error}", hint="Set EDITOR.")
            services.notify(literal(str(refusal), 600), severity="error")
        services.workspace.read_models()
