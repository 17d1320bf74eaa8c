"""Readers' decisions on suspect ground truths: one TOML file per suite, to be shared and sent upstream."""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import tomli

from console.core.fault import UsageError, reason_of
from console.core.ready_type import ready_type
from console.store.atomic import change_file, read_regular

FOLDER = "errata"
RIGHT, WRONG, AMBIGUOUS = DECISIONS = ("right", "wrong", "ambiguous")


class Erratum(msgspec.Struct, frozen=True):
    """A decision on the key of one case. Texts are untrusted."""

    case: str
    digest: str
    """Digest of the case at the time of the decision; if it differs now, the erratum is stale."""
    decision: str
    """One of `DECISIONS`."""
    reader: str
    date: str
    reason: str = ""
    answer: str = ""
    """The right answer, if the key is wrong and the answer is known."""


def errata_path(data: Path, suite: str) -> Path:
    """Return the file with the errata of a suite."""
    return data / FOLDER / f"{suite}.toml"


def read_errata(path: Path) -> dict[str, Erratum]:
    """Return the errata by case; empty if there is no file.

    Raises:
        UsageError: the file cannot be read; names the entry.
    """
    try:
        return _decoded(read_regular(path), path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"cannot be read: {reason_of(error)}", where=str(path)) from None


def _decoded(data: bytes, path: Path) -> dict[str, Erratum]:
    try:
        listed = msgspec.convert(tomli.loads(data.decode()).get("erratum", []), ready_type(list[Erratum]))
    except msgspec.ValidationError as error:
        raise UsageError(f"is not a file of errata: {error}", where=str(path)) from None
    except ValueError as error:
        raise UsageError(f"cannot be read: {reason_of(error)}", where=str(path)) from None
    for number, erratum in enumerate(listed, 1):
        if erratum.decision not in DECISIONS:
            hint = f"One of {', '.join(DECISIONS)}."
            raise UsageError(f"{erratum.decision!r} is not a decision", where=f"{path}: erratum {number}", hint=hint)
    return {erratum.case: erratum for erratum in listed}


def errata_text(errata: dict[str, Erratum]) -> str:
    """Return errata as TOML."""
    parts = [
        "[[erratum]]\n"
        + "".join(f"{name} = {json.dumps(value, ensure_ascii=True)}\n" for name, value in _fields(errata[case]))
        for case in sorted(errata)
    ]
    return "\n".join(parts)


def _fields(erratum: Erratum) -> list[tuple[str, str]]:
    return [(name, value) for name, value in msgspec.structs.asdict(erratum).items() if value]


def add_errata(path: Path, added: Mapping[str, Erratum]) -> dict[str, Erratum]:
    """Add decisions to the file, replacing those on the same cases, and return all.

    Raises:
        UsageError: it cannot be read or written.
    """
    errata: dict[str, Erratum] = {}

    def with_added(before: bytes | None) -> bytes:
        errata.update({**_decoded(before or b"", path), **added})
        return errata_text(errata).encode()

    change_file(path, with_added)
    return errata
