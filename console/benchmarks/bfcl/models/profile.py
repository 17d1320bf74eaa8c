"""The models of the official registry: what the leaderboard says of a name, how it is asked, how its answers are read.

A table of facts, `profiles/registry.toml`, read when a name is first asked for. Nothing else of the suite knows a name.
"""

from functools import cache
from pathlib import Path

import msgspec
import tomli

from console.core.fault import UsageError
from console.core.suggestion import nearest_names

_TABLE = Path(__file__).parent / "profiles" / "registry.toml"


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of the registry."""

    name: str
    """The registry name: what `bfcl --model` takes; with `/` written `_` it names the result folder."""
    display_name: str
    link: str
    organization: str
    licence: str
    handler: str
    """The official class, for what only one provider does."""
    family: str
    """How answers are decoded: one of `decode/families.py`."""
    api: str
    """The API it is asked by: `responses`, `chat`, `anthropic`, `gemini`, `mistral`, `cohere`, `bedrock`, `writer`
    or `gorilla`; `completions` for models that are served locally."""
    model_id: str = ""
    """The name that is sent; `name` where the table leaves it out."""
    template: str = ""
    """How a prompt is written for the `completions` API; empty for all others."""
    is_fc: bool = False
    """Whether it counts as a function-calling model, which has no format sensitivity."""
    underscore_to_dot: bool = False
    """Whether dots in function names go out as underscores, and come back so."""
    reasons: bool = False
    """Whether it is asked to reason, by the fields that its service has for it."""
    note: str = ""
    """What is broken in the official code of this row; its verdicts follow the code all the same."""
    input_price: float | None = None
    """US dollars per million tokens; None when the official table has none."""
    output_price: float | None = None


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    models: list[Profile]


@cache
def profiles() -> dict[str, Profile]:
    """Return all rows by name, in the official order."""
    table = msgspec.convert(tomli.loads(_TABLE.read_text(encoding="utf-8")), _Table)
    return {row.name: row if row.model_id else msgspec.structs.replace(row, model_id=row.name) for row in table.models}


def profile_of_folder(folder: str) -> Profile | None:
    """Return the row whose results a folder of this name holds; None when it is named after no row."""
    return profiles().get(folder.replace("_", "/"))


def find_profile(name: str) -> Profile:
    """Return the row of a registry name.

    Raises:
        UsageError: there is none; names the nearest.
    """
    profile = profiles().get(name)
    if profile is None:
        close = nearest_names(name, profiles())
        hint = f"Nearest: {', '.join(close)}." if close else "`eval-console bfcl models` lists all of them."
        raise UsageError(f"{name!r} is no name of the official BFCL registry", hint=hint)
    return profile
