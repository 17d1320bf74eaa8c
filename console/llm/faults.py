"""From a provider's error to a typed fault: by its code first, its status second, its phrases last.

Promises one readable sentence without secrets' surroundings: HTML is reduced to its title, long bodies are cut. The
caller redacts, since only it knows the key.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from console.core.fault import Fault, FaultKind
from console.llm.retry_after import retry_after

_LONGEST_MESSAGE = 400

_BY_CODE = {
    "insufficient_quota": FaultKind.QUOTA,
    "billing_hard_limit_reached": FaultKind.QUOTA,
    "billing_not_active": FaultKind.QUOTA,
    "billing_error": FaultKind.QUOTA,
    "invalid_api_key": FaultKind.AUTH,
    "authentication_error": FaultKind.AUTH,
    "permission_error": FaultKind.AUTH,
    "account_deactivated": FaultKind.AUTH,
    "unauthorized": FaultKind.AUTH,
    "model_not_found": FaultKind.NOT_FOUND,
    "not_found_error": FaultKind.NOT_FOUND,
    "notfounderror": FaultKind.NOT_FOUND,
    "deploymentnotfound": FaultKind.NOT_FOUND,
    "context_length_exceeded": FaultKind.CONTEXT,
    "request_too_large": FaultKind.CONTEXT,
    "exceed_context_size_error": FaultKind.CONTEXT,
    "string_above_max_length": FaultKind.CONTEXT,
    "invalid_function_parameters": FaultKind.BAD_TOOL_SCHEMA,
    "rate_limit_exceeded": FaultKind.RATE_LIMIT,
    "rate_limit_error": FaultKind.RATE_LIMIT,
    "resource_exhausted": FaultKind.RATE_LIMIT,
    "too_many_requests": FaultKind.RATE_LIMIT,
    "overloaded_error": FaultKind.SERVER,
    "overloaded": FaultKind.SERVER,
    "server_error": FaultKind.SERVER,
    "internal_error": FaultKind.SERVER,
    "api_error": FaultKind.SERVER,
    "service_unavailable": FaultKind.SERVER,
    "timeout": FaultKind.SERVER,
}
_BY_STATUS = {
    401: FaultKind.AUTH,
    402: FaultKind.QUOTA,
    403: FaultKind.AUTH,
    404: FaultKind.NOT_FOUND,
    405: FaultKind.NOT_FOUND,
    408: FaultKind.SERVER,
    409: FaultKind.SERVER,
    413: FaultKind.CONTEXT,
    425: FaultKind.SERVER,
    429: FaultKind.RATE_LIMIT,
}
_CONTEXT = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:context|prompt|input) length|prompt is too long|input is too long"
    r"|too many (?:input )?tokens|token limit|reduce the length|exceeds? the (?:model'?s )?(?:maximum )?context"
    r"|input (?:token count|length).{0,40}exceed",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient (?:credits|balance|funds|quota)|credit balance|out of credits", re.IGNORECASE)
_TOOLS = re.compile(r"invalid (?:schema for )?(?:function|tool)|tools?\[\d+\]|tools\.\d+|function_declarations", re.I)
_FILTER = re.compile(r"content_filter|content_policy|content management policy|moderation|flagged", re.IGNORECASE)
_KEY = re.compile(r"(?:api[ _]?key|credentials).{0,40}(?:invalid|incorrect|not valid|expired)|incorrect api key", re.I)


@dataclass(frozen=True, slots=True)
class ProviderError:
    """What a provider said of an error, as far as it could be read."""

    message: str
    codes: tuple[str, ...] = ()
    """Its `code`, `type` and `status` texts in lower case, the most telling first."""
    number: int | None = None
    """A numeric code inside the body, which some gateways send with HTTP 200."""
    param: str = ""

    @property
    def is_filtered(self) -> bool:
        """Whether the provider's content filter refused the request: an answer of the model's side, not a fault."""
        return any(_FILTER.search(code) for code in self.codes)

    def names(self, param: str) -> bool:
        """Whether the error is about this request parameter."""
        return self.param == param or bool(re.search(rf"\b{re.escape(param)}\b", self.message))


def read_provider_error(body: bytes) -> ProviderError:
    """Read an error body in any of the forms in use; what is not JSON is quoted in short."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ProviderError(_plain(body))
    return provider_error_of(value)


def provider_error_of(value: Any) -> ProviderError:
    """Read a decoded error value: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}` or a list."""
    if isinstance(value, list):
        rows = cast(list[Any], value)
        return provider_error_of(rows[0]) if rows and isinstance(rows[0], dict) else ProviderError(_short(str(rows)))
    if not isinstance(value, dict):
        return ProviderError(_short(str(value)))
    outer = cast(dict[str, Any], value)
    inner = outer.get("error") or outer
    if not isinstance(inner, dict):
        return ProviderError(_short(str(inner)), _codes(outer))
    fields = cast(dict[str, Any], inner)
    message = fields.get("message") or fields.get("detail") or fields.get("msg") or json.dumps(fields, default=str)
    code = fields.get("code")
    number = code if isinstance(code, int) and not isinstance(code, bool) else _numeral(code)
    return ProviderError(
        _short(message if isinstance(message, str) else json.dumps(message)), _codes(fields), number, _param(fields)
    )


def fault_of(error: ProviderError, status: int | None = None, headers: Mapping[str, str] | None = None) -> Fault:
    """Return the typed fault for a provider's error."""
    effective = error.number if error.number and (status is None or status < 400) else status
    kind = _kind(error, effective)
    wait = retry_after(headers or {}) if kind in (FaultKind.RATE_LIMIT, FaultKind.SERVER) else None
    number = f" (HTTP {effective})" if effective and 300 <= effective < 600 else ""
    return Fault(kind, (error.message or "no explanation") + number, status=effective, retry_after_s=wait)


def _kind(error: ProviderError, status: int | None) -> FaultKind:
    by_code = next((_BY_CODE[code] for code in error.codes if code in _BY_CODE), None)
    if by_code is not None and by_code in (FaultKind.QUOTA, FaultKind.CONTEXT, FaultKind.BAD_TOOL_SCHEMA):
        return by_code
    if status in (400, 413, 422, 500, None) and _CONTEXT.search(error.message):
        return FaultKind.CONTEXT
    if status in (400, 402, 403, 429, None) and _QUOTA.search(error.message):
        return FaultKind.QUOTA
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if by_code is not None:
        return by_code
    if status is None or status >= 500:
        return FaultKind.SERVER
    return _kind_of_refusal(error)


def _kind_of_refusal(error: ProviderError) -> FaultKind:
    if error.param.startswith(("tools", "functions")) or _TOOLS.search(error.message):
        return FaultKind.BAD_TOOL_SCHEMA
    return FaultKind.AUTH if _KEY.search(error.message) else FaultKind.BAD_REQUEST


def _codes(fields: dict[str, Any]) -> tuple[str, ...]:
    codes = (fields.get(name) for name in ("code", "type", "status"))
    return tuple(code.lower() for code in codes if isinstance(code, str) and code)


def _numeral(code: object) -> int | None:
    return int(code) if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3 else None


def _param(fields: dict[str, Any]) -> str:
    param = fields.get("param")
    return param if isinstance(param, str) else ""


def looks_like_html(body: bytes) -> bool:
    """Whether a body is a page for people: a login page, a proxy's error page."""
    return body.lstrip()[:1] == b"<"


def _plain(body: bytes) -> str:
    text = body[:4096].decode("utf-8", "replace")
    if looks_like_html(body):
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        return f"a web page instead of an answer{f': {_short(title[1])}' if title else ''}"
    return _short(text)


def _short(text: str) -> str:
    text = " ".join(text.split())
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"
