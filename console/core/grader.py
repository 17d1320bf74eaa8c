"""`Grader`: identifies everything that decided a run's verdicts, to determine whether runs were graded alike."""

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from console.core.json_text import canonical_json


class Grader(msgspec.Struct, frozen=True, omit_defaults=True):
    """Identity of everything that decided the verdicts of a run; equal graders give equal verdicts on equal outputs."""

    format: str
    code: str
    """Digest of the sources of scoring, decoders and checkers; of all code for a suite with code of its own."""
    truths: str = ""
    """Digest of the cases of the whole selection, ground truths included."""
    models: dict[str, str] = {}
    """Judge and embedding by role: model id, address and parameters."""
    rules: dict[str, Any] = {}
    """Options and texts that decide verdicts, such as thresholds and wording."""

    @property
    def digest(self) -> str:
        """Short digest of the whole identity."""
        import hashlib

        return hashlib.sha256(canonical_json(self)).hexdigest()[:12]


def differences(a: Grader, b: Grader, *, same_cases: bool = False) -> Iterator[str]:
    """Yield the differences of two graders as text, such as `judge gpt-4o → o1`. Values are untrusted text.

    Args:
        a: one grader.
        b: the other.
        same_cases: both have the same selection, so different ground truths are a difference.
    """
    if a.format != b.format:
        yield f"format {a.format} → {b.format}"
    elif a.code != b.code:
        yield f"code of the grader {a.code[:8]} → {b.code[:8]}"
    if same_cases and a.truths != b.truths:
        yield f"ground truths {a.truths[:8]} → {b.truths[:8]}"
    yield from _changed(a.models, b.models)
    yield from _changed(a.rules, b.rules)


def _changed(here: dict[str, Any], there: dict[str, Any]) -> Iterator[str]:
    for name in sorted(here.keys() | there.keys()):
        was, now = here.get(name), there.get(name)
        if isinstance(was, dict) and isinstance(now, dict):
            yield from _changed(cast("dict[str, Any]", was), cast("dict[str, Any]", now))
        elif was != now:
            yield f"{name} {_shown(was)} → {_shown(now)}"


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:59]}…"
