"""Reads the wait that a provider asks for from all known headers, as seconds from now.

`retry-after-ms` and `Retry-After` come first; dates are compared with the response's own `Date`, since the local clock
may be wrong. Otherwise the longest `x-ratelimit-reset-*` of an exhausted limit counts.
"""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_WHOLE = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_RESET = re.compile(r"(?:x-|anthropic-)?ratelimit-(?:reset(?:-.+)?|.+-reset)$")
_LONGEST_S = 366 * 86400.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait, or None if no header gives them; names are case-insensitive."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    sent = _date(lower.get("date", ""))
    now = sent.timestamp() if sent else time.time()
    milliseconds = _number(lower.get("retry-after-ms", ""))
    if milliseconds is not None:
        return _sane(milliseconds / 1000.0)
    if "retry-after" in lower:
        wait = _seconds(lower["retry-after"], now)
        if wait is not None:
            return _sane(wait)
    waits = [wait for name, value in lower.items() if (wait := _reset(name, value, lower, now)) is not None]
    return _sane(max(waits)) if waits else None


def _reset(name: str, value: str, headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds until a limit is reset, unless the limit is not exhausted."""
    if _RESET.match(name) is None:
        return None
    left = _number(headers.get(name.replace("reset", "remaining"), "0"))
    return None if left else _seconds(value, now)


def _seconds(value: str, now: float) -> float | None:
    """Parse seconds, `1m30s`, epoch seconds or milliseconds, an HTTP date or an ISO time."""
    number = _number(value)
    if number is not None:
        if number > 1e11:
            return number / 1000.0 - now
        return number - now if number > 1e9 else number
    if _WHOLE.fullmatch(value):
        return sum(float(count) * _UNIT_S[unit] for count, unit in _PART.findall(value))
    point = _date(value)
    return point.timestamp() - now if point else None


def _number(value: str) -> float | None:
    return float(value) if re.fullmatch(r"\d{1,15}(?:\.\d{1,9})?", value) else None


def _date(value: str) -> datetime | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            parsed = read(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return None


def _sane(seconds: float) -> float:
    return min(max(seconds, 0.0), _LONGEST_S)
