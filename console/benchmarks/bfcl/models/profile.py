"""The models of the official registry, with leaderboard facts, API and decode family.

Read lazily from `profiles/registry.toml`, the only place with model names.
"""

from functools import cache
from pathlib import Path

import msgspec
import tomli

from console.core.fault import UsageError
from console.core.ready_type import ready_type
from console.core.suggestion import nearest_names

_TABLE = Path(__file__).parent / "profiles" / "registry.toml"


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the registry."""

    name: str
    """Registry name for `bfcl --model`; with `_` for `/`, the result folder."""
    display_name: str
    link: str
    organization: str
    licence: str
    handler: str
    """Official handler class, for provider-specific behavior."""
    family: str
    """Decode family, see `decode/families.py`."""
    api: str
    """API: `responses`, `chat`, `anthropic`, `gemini`, `mistral`, `cohere`, `bedrock`, `writer` or `gorilla`;
    `completions` for locally served models."""
    model_id: str = ""
    """Model id to send; default: `name`."""
    template: str = ""
    """Prompt template of the `completions` API; empty for others."""
    is_fc: bool = False
    """True if it is a function-calling model, without format sensitivity."""
    underscore_to_dot: bool = False
    """True if function names have underscores for dots in requests and replies."""
    reasons: bool = False
    """True if requests enable reasoning."""
    note: str = ""
    """Bug in the official code of this row, which verdicts reproduce."""
    input_price: float | None = None
    """USD per million tokens; None if not in the official table."""
    output_price: float | None = None


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    models: list[Profile]


@cache
def profiles() -> dict[str, Profile]:
    """Return all rows by name, in the official order."""
    table = msgspec.convert(tomli.loads(_TABLE.read_text(encoding="utf-8")), ready_type(_Table))
    return {row.name: row if row.model_id else msgspec.structs.replace(row, model_id=row.name) for row in table.models}


def profile_of_folder(folder: str) -> Profile | None:
    """Return the row of a result folder's name, or None."""
    return profiles().get(folder.replace("_", "/"))


def find_profile(name: str) -> Profile:
    """Return the row of a registry name.

    Raises:
        UsageError: unknown name; suggests one.
    """
    profile = profiles().get(name)
    if profile is None:
        close = nearest_names(name, profiles())
        hint = f"Nearest: {', '.join(close)}." if close else "`eval-console bfcl models` lists all of them."
        raise UsageError(f"{name!r} is not in the official BFCL registry", hint=hint)
    return profile
