"""The newest check of each endpoint, with its date: kept in the state folder, and forgotten without harm."""

import contextlib
import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from console.config.model import ModelConfig
from console.config.paths import state_dir
from console.core.json_text import decode_as
from console.store.atomic import PRIVATE, PRIVATE_FOLDER, read_regular, write_atomically


class Difference(msgspec.Struct, frozen=True):
    """One question whose answer was not as it should be."""

    name: str
    mark: str
    """`differs`, `refuses` or `wrong`."""


class EndpointCheck(msgspec.Struct, frozen=True):
    """One whole check of an endpoint."""

    at: float
    """Seconds since 1970."""
    differences: list[Difference]


def keep_check(model: ModelConfig, differences: Sequence[Difference], at: float) -> None:
    """Replace the kept check of a model's endpoint; a state folder that cannot be written keeps nothing."""
    path = _path(model)
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(EndpointCheck(at, list(differences))), mode=PRIVATE, is_derived=True)


def last_check(model: ModelConfig) -> EndpointCheck | None:
    """Read the newest check of a model's endpoint; a damaged file counts as none."""
    try:
        return decode_as(read_regular(_path(model)), EndpointCheck)
    except (OSError, ValueError):
        return None


def check_notice(model: ModelConfig) -> str:
    """Sum up in one line what is open about a model's endpoint; empty if its newest check was clean."""
    check = last_check(model)
    if check is None:
        return f"the endpoint of {model.name} was never checked; `eval-console doctor --try {model.name}` does it"
    if not check.differences:
        return ""
    count = len(check.differences)
    day = time.strftime("%Y-%m-%d", time.localtime(check.at))
    names = ", ".join(f"{each.name} ({each.mark})" for each in check.differences)
    return f"the last check of {model.name}'s endpoint ({day}) found {count} difference{'s' * (count != 1)}: {names}"


def _path(model: ModelConfig) -> Path:
    served = msgspec.json.encode((model.provider, model.addresses, model.model_id))
    return state_dir() / "endpoints" / f"{hashlib.sha256(served).hexdigest()[:32]}.json"
