"""Classifies provider errors as faults: by code first, then by status, then by phrases in the message.

Messages are one readable sentence: HTML is reduced to its title, long bodies are cut. Values are already redacted
(`Redactor.value`); bytes are redacted here, before they are cut.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from console.config.model import ModelConfig
from console.config.redaction import Redactor
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object, as_objects
from console.llm.transport.retry_after import retry_after
from console.llm.transport.too_long import is_too_long

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
    "invalid_function_parameters": FaultKind.BAD_TOOL_SCHEMA,
    "rate_limit_exceeded": FaultKind.RATE_LIMIT,
    "rate_limit_error": FaultKind.RATE_LIMIT,
    "throttlingexception": FaultKind.RATE_LIMIT,
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
    410: FaultKind.NOT_FOUND,
    408: FaultKind.SERVER,
    409: FaultKind.SERVER,
    413: FaultKind.CONTEXT,
    420: FaultKind.RATE_LIMIT,
    425: FaultKind.SERVER,
    429: FaultKind.RATE_LIMIT,
}
_FILTERED = frozenset(
    {
        "content_filter",  # Azure
        "content_policy_violation",  # OpenAI
        "data_inspection_failed",  # Alibaba
    }
)
"""Codes of provider filters that refuse a prompt, always with status 400. Similar codes, such as `account_flagged`
or `moderation_service_unavailable`, concern the account or the service.
"""
_NUMBERS = ("code", "status", "status_code")
_SUCCESS = {0, 200}
_ERROR_FIELDS = frozenset({"error", "errors", "message", "detail", "msg", "success", "base_resp", *_NUMBERS})
"""Fields of errors: every error has one of these, or `error` as its `object` or `type`."""
_SUCCESS_WORDS = frozenset({"", "ok", "success", "succeeded"})
"""Strings that some providers send as the `code` of every answer, without trailing zeros."""
_FAILURE_WORDS = frozenset({"error", "fail", "failed", "failure", "timeout", "aborted", "cancelled", "canceled"})
"""Strings in `status` that mean errors; others name a state, such as `completed`."""
_MAY_BE_TOO_LONG = frozenset({None, 413, 500, *range(400, 429)} - {401, 402, 403, 404})
"""Statuses with which servers refuse a request that is too long; 429 only says so in words."""
_REFUSALS = frozenset({400, 406, 407, 411, 412, 414, 415, 417, 422, 426, 428, 431, 451})
"""Statuses below 500 that the request itself causes; any other, such as Groq's 498, is the server's condition."""
_BUSY = re.compile(r"overloaded|(?:over|at|no) capacity|capacity exceeded|temporarily|try again later", re.IGNORECASE)
_PERIOD = re.compile(r"(?:per|/|a|this)[ -]?(?:day|week|month)\b|\b(?:daily|weekly|monthly|[RT]PD)\b", re.IGNORECASE)
"""Limits whose end is hours or days away."""
_TRY_AGAIN = re.compile(r"(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)", re.IGNORECASE)
_SHORT_S = 60.0
_QUOTA = re.compile(r"insufficient (?:credits|balance|funds|quota)|credit balance|out of credits", re.IGNORECASE)
_TOOLS = re.compile(r"invalid (?:schema for )?(?:function|tool)|tools?\[\d+\]|tools\.\d+|function_declarations", re.I)
_KEY = re.compile(r"(?:api[ _]?key|credentials).{0,40}(?:invalid|incorrect|not valid|expired)|incorrect api key", re.I)


@dataclass(frozen=True, slots=True)
class ProviderError:
    """The readable parts of a provider's error."""

    message: str
    codes: tuple[str, ...] = ()
    """Its `code`, `type` and `status` strings in lower case, most specific first."""
    number: int | None = None
    """Numeric code in the body, which some gateways send with HTTP 200."""
    param: str = ""
    waits: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers with the time of the next try that the body quotes, as OpenRouter does, or gives in words."""
    is_of_period: bool = False
    """True if a limit per day or longer is used up."""

    def is_filtered(self, status: int | None) -> bool:
        """Return True if the provider's content filter refused the prompt, which is an answer and not a fault."""
        return status == 400 and not _FILTERED.isdisjoint(self.codes)

    def names(self, param: str) -> bool:
        """Return True if the error concerns this request parameter."""
        return self.param == param or bool(re.search(rf"\b{re.escape(param)}\b", self.message))


def read_provider_error(body: bytes, redact: Redactor) -> ProviderError:
    """Return the redacted error in a body of any known format; a body that is not JSON is quoted in part."""
    try:
        value: Any = redact.value(json.loads(body))
    except (ValueError, RecursionError):
        return ProviderError(_plain(redact(body.decode("utf-8", "replace"))))
    return provider_error_of(value)


def provider_error_of(value: Any) -> ProviderError:
    """Read an error: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}`, or a list."""
    if isinstance(value, list):
        rows = cast(list[Any], value)
        return provider_error_of(rows[0]) if rows and isinstance(rows[0], dict) else ProviderError(_short(str(rows)))
    if not isinstance(value, dict):
        return ProviderError(_short(str(value)))
    outer = cast(dict[str, Any], value)
    inner = outer.get("error") or outer.get("errors") or (outer["base_resp"] if _has_failed_base(outer) else outer)
    if isinstance(inner, list):
        return provider_error_of(cast(list[Any], inner))
    if not isinstance(inner, dict):
        return ProviderError(_short(str(inner)), _codes(outer))
    fields = cast(dict[str, Any], inner)
    message = fields.get("message") or fields.get("detail") or fields.get("msg") or fields.get("status_msg")
    message = message or json.dumps(fields, default=str)
    text = message if isinstance(message, str) else json.dumps(message)
    numbers = (_number(fields.get(name)) for name in _NUMBERS)
    number = next((number for number in numbers if number), None)
    quotas = [quota for detail in as_objects(fields.get("details")) for quota in as_objects(detail.get("violations"))]
    is_google_day = any("PerDay" in str(quota.get("quotaId")) for quota in quotas)
    waits = {} if is_google_day else _waits(fields, text)  # Google names a minute even for a day
    is_of_period = is_google_day or bool(_PERIOD.search(text))
    return ProviderError(_short(text), _codes(fields), number, _param(fields), waits, is_of_period)


def _waits(fields: dict[str, Any], message: str) -> dict[str, str]:
    """Return the headers with a time to wait that an error quotes, or its words as such a header."""
    headers = as_object(as_object(fields.get("metadata")).get("headers"))
    waits = {name: value for name, value in headers.items() if isinstance(value, str)}
    delays = [detail["retryDelay"] for detail in as_objects(fields.get("details")) if "retryDelay" in detail]
    words = _TRY_AGAIN.search(message)
    delay = words[1] if words else next(iter(delays), None)
    return waits | ({"retry-after": delay} if isinstance(delay, str) else {})


def reports_error(value: Any, *, in_answer: bool = False) -> bool:
    """Return True if a decoded body or chunk reports an error, in any known format.

    Args:
        value: the body, a chunk, or a part of one.
        in_answer: True if it holds part of an answer. Then a mere message is not an error, since some providers send
            `"code": 0, "message": "Success"` with every answer.
    """
    if isinstance(value, list):
        rows = cast(list[Any], value)
        return bool(rows) and isinstance(rows[0], dict) and reports_error(rows[0])
    if not isinstance(value, dict):
        return False
    fields = cast(dict[str, Any], value)
    if "error" in (fields.get("object"), fields.get("type")):
        return True
    if _ERROR_FIELDS.isdisjoint(fields):
        return False  # the usual case
    if fields.get("error") or fields.get("errors"):
        return True
    if fields.get("success") is False or fields.get("detail") or _has_failed(fields):
        return True
    numbers = {_number(fields.get(name)) for name in _NUMBERS} - {None}
    if numbers or in_answer:
        return not numbers <= _SUCCESS
    return any(fields.get(name) for name in ("message", "msg", "code"))


def _has_failed(fields: dict[str, Any]) -> bool:
    """Return True if a textual code or status, or MiniMax's `base_resp`, reports an error."""
    code, status = fields.get("code"), fields.get("status")
    if isinstance(code, str) and _number(code) is None and code.strip().strip("0").lower() not in _SUCCESS_WORDS:
        return True
    return (isinstance(status, str) and status.strip().lower() in _FAILURE_WORDS) or _has_failed_base(fields)


def _has_failed_base(fields: dict[str, Any]) -> bool:
    return bool(as_object(fields.get("base_resp")).get("status_code"))


def fault_of(error: ProviderError, status: int | None = None, headers: Mapping[str, str] | None = None) -> Fault:
    """Return the fault for a provider's error."""
    effective = error.number if error.number and (status is None or status < 400) else status
    kind = _kind(error, effective)
    wait = _wait(error, headers or {}) if kind in (FaultKind.RATE_LIMIT, FaultKind.SERVER) else None
    number = f" (HTTP {effective})" if effective and 300 <= effective < 600 else ""
    hint = ""
    if kind is FaultKind.RATE_LIMIT and error.is_of_period and wait is None:
        kind, hint = FaultKind.QUOTA, "Resume the run when this limit is renewed, or raise it at the provider."
    return Fault(kind, (error.message or "no explanation") + number, status=effective, retry_after_s=wait, hint=hint)


def _wait(error: ProviderError, headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait; a few seconds for a limit of a day count only if the error itself names them."""
    dates = {name: value for name, value in headers.items() if name.lower() == "date"}
    named = retry_after(headers), retry_after({**error.waits, **dates})
    if not error.is_of_period:
        return named[0] if named[0] is not None else named[1]
    general = named[0] if (named[0] or 0.0) >= _SHORT_S else None
    return max((wait for wait in (general, named[1]) if wait is not None), default=None)


def _kind(error: ProviderError, status: int | None) -> FaultKind:
    by_code = next((_BY_CODE[code] for code in error.codes if code in _BY_CODE), None)
    if by_code is not None and by_code in (FaultKind.QUOTA, FaultKind.CONTEXT, FaultKind.BAD_TOOL_SCHEMA):
        return by_code
    if _is_too_long(error, status):
        return FaultKind.CONTEXT
    if status in (400, 402, 403, 429, None) and _QUOTA.search(error.message):
        return FaultKind.QUOTA
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if by_code is not None:
        return by_code
    if status is None or status >= 500:
        return FaultKind.SERVER
    return _kind_of_refusal(error, status)


def _is_too_long(error: ProviderError, status: int | None) -> bool:
    if status == 429:  # such as OpenAI's, for one request above the limit of a minute, which no waiting helps
        return error.message.lower().startswith("request too large")
    return status in _MAY_BE_TOO_LONG and is_too_long(error.message, error.param)


def _kind_of_refusal(error: ProviderError, status: int) -> FaultKind:
    if error.param.startswith(("tools", "functions")) or _TOOLS.search(error.message):
        return FaultKind.BAD_TOOL_SCHEMA
    if _KEY.search(error.message):
        return FaultKind.AUTH
    is_request = 300 <= status < 400 or (status in _REFUSALS and not _BUSY.search(error.message))
    return FaultKind.BAD_REQUEST if is_request else FaultKind.SERVER


def _codes(fields: dict[str, Any]) -> tuple[str, ...]:
    codes = (fields.get(name) for name in ("code", "type", "status"))
    return tuple(code.lower() for code in codes if isinstance(code, str) and code)


def _number(code: object) -> int | None:
    """Return a numeric code, even if sent as a string of three digits."""
    if type(code) is int:
        return code
    return int(code) if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3 else None


def _param(fields: dict[str, Any]) -> str:
    param = fields.get("param")
    return param if isinstance(param, str) else ""


def looks_like_html(body: bytes) -> bool:
    """Return True if a body is a web page, such as a login page or a proxy's error page."""
    return body.lstrip()[:1] == b"<"


def _plain(text: str) -> str:
    text = text[:4096]
    if text.lstrip()[:1] == "<":
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        return f"a web page instead of an answer{f': {_short(title[1])}' if title else ''}"
    return _short(text)


def _short(text: str) -> str:
    text = " ".join(text.split())
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def hint_for(kind: FaultKind, model: ModelConfig) -> str:
    """Return the hint for a fault of a model; empty if there is none."""
    source = f"the variable {model.api_key_env}" if model.api_key_env else "its key"
    return {
        FaultKind.AUTH: f"Check {source} for [{model.name}].",
        FaultKind.QUOTA: f"Add credit at the provider of [{model.name}], or choose another model.",
        FaultKind.NOT_FOUND: f"Check model_id and base_url of [{model.name}]; `eval-console doctor` lists its models.",
        FaultKind.BAD_REQUEST: f"Check the parameters of [{model.name}] in models.toml.",
        FaultKind.BAD_TOOL_SCHEMA: 'The server refuses these tools; try mode = "prompt".',
        FaultKind.TRUNCATED: "If this happens with every answer, update the server: it must send a finish_reason.",
        FaultKind.BAD_ANSWER: f"Check base_url of [{model.name}]: it must be the address of an OpenAI-style API.",
    }.get(kind, "")
