"""The newest check of each endpoint, with its date: kept in the state folder, and deletable at any time."""

import contextlib
import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from console.config.paths import state_dir
from console.core.chat import Usage
from console.core.fault import os_errors_as
from console.core.fingerprint import Fingerprint
from console.core.json_text import decode_as
from console.core.price import dollars, estimated_cost
from console.core.request import asked_tier
from console.core.run import ModelFacts
from console.store.atomic import PRIVATE, PRIVATE_FOLDER, read_regular, write_atomically

_REQUESTS, _SENT, _WRITTEN = 20, 15_000, 4_500
"""Maximum number of requests and tokens of a check, including those that find refused parameters."""


def check_size(model: ModelFacts) -> str:
    """State the size and the cost of a check."""
    cost = estimated_cost(model.price, Usage(_SENT, _WRITTEN), asked_tier(model.params), _REQUESTS)
    price = f"about {dollars(cost)}" if cost is not None else "price unknown"
    return f"up to {_REQUESTS} requests with {_SENT:,} tokens, {price}"


class Difference(msgspec.Struct, frozen=True):
    """A question with an unexpected answer."""

    name: str
    mark: str
    """`differs`, `refuses` or `wrong`."""


class EndpointCheck(msgspec.Struct, frozen=True):
    """One whole check of an endpoint."""

    at: float
    """Seconds since 1970."""
    differences: list[Difference]
    unchecked: list[str] = []
    """Names of the questions that got no answer."""


def keep_check(model: ModelFacts, differences: Sequence[Difference], at: float, unchecked: Sequence[str] = ()) -> None:
    """Store the check of a model's endpoint in place of an earlier one, if the state folder is writable."""
    path = _path(model)
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        check = EndpointCheck(at, list(differences), list(unchecked))
        write_atomically(path, msgspec.json.encode(check), mode=PRIVATE, is_derived=True)


def last_check(model: ModelFacts) -> EndpointCheck | None:
    """Read the newest check of a model's endpoint; a damaged file counts as none."""
    try:
        return decode_as(read_regular(_path(model)), EndpointCheck)
    except (OSError, ValueError):
        return None


def keep_fingerprint(model: ModelFacts, fingerprint: Fingerprint) -> None:
    """Store the fingerprint of a model's endpoint, replacing an earlier one.

    Raises:
        UsageError: it cannot be written.
    """
    path = _path(model, ".drift.json")
    with os_errors_as("cannot be written", where=path):
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(fingerprint), mode=PRIVATE)


def last_fingerprint(model: ModelFacts) -> Fingerprint | None:
    """Read the kept fingerprint of a model's endpoint; a damaged file counts as none."""
    try:
        return decode_as(read_regular(_path(model, ".drift.json")), Fingerprint)
    except (OSError, ValueError):
        return None


def check_notice(model: ModelFacts) -> str:
    """Return a line on open issues of a model's endpoint; empty if its newest check was clean."""
    if last_check(model) is None:
        return f"the endpoint of {model.name} was never checked; `eval-console doctor --try {model.name}` does it"
    return difference_notice(model)


def difference_notice(model: ModelFacts) -> str:
    """Return a line on the findings of the newest check of a model's endpoint; empty if clean or never checked."""
    check = last_check(model)
    if check is None or not (check.differences or check.unchecked):
        return ""
    count = len(check.differences)
    day = time.strftime("%Y-%m-%d", time.localtime(check.at))
    names = ", ".join(f"{each.name} ({each.mark})" for each in check.differences)
    parts = [f"found {count} difference{'s' * (count != 1)}: {names}"] if count else []
    parts += [f"got no answer to: {', '.join(check.unchecked)}"] if check.unchecked else []
    return f"the last check of {model.name}'s endpoint ({day}) {', and '.join(parts)}"


def _path(model: ModelFacts, ending: str = ".json") -> Path:
    served = msgspec.json.encode((model.provider, [model.base_url, *model.other_urls], model.model_id))
    return state_dir() / "endpoints" / f"{hashlib.sha256(served).hexdigest()[:32]}{ending}"
