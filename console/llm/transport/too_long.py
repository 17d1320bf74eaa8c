"""Recognizes refusals of requests that are too long for the model, whose words differ by server and version."""

import re

_NOT_THE_PROMPT = re.compile(
    r"\bmax_\w*tokens\b|(?:completion|output|generated|new) tokens|input validation error", re.IGNORECASE
)
"""The limit of a reply, which is a setting, and a common title of errors."""
_WHAT = r"\b(?:context|prompt|inputs?|messages?|conversation|tokens?|text|sequence length)\b"
_TOO_MUCH = (
    r"(?:\bexceed|\btoo (?:long|large|big|many)\b"
    r"|\b(?:longer|larger|greater|more) than\b|\boverflow|\bmaximum\b|\blimit"
    r"|\bmax[ _]length|must (?:be <=|have less than)|\bonly supports up to\b|\breduce\b|\bshorten\b)"
)
_TOO_LONG = re.compile(
    rf"{_WHAT}.{{0,80}}?{_TOO_MUCH}|{_TOO_MUCH}.{{0,60}}?{_WHAT}|context[ _](?:length|window|size)"
    r"|range of input length|must be at least 1, got -\d|max_(?:model|seq)_len|request too large"
    r"|(?:输入|上下文|提示|prompt|token).{0,20}(?:超|过长|太长)|(?:超长|超(?:过|出)).{0,20}(?:上下文|长度|token)",
    re.IGNORECASE,
)
_OTHER_PART = re.compile(
    r"\b(?:names?|descriptions?|ids?|keys?|schema|metadata|stop|tools?|functions?|images?|pictures?|audio|videos?|pdf|files?"
    r"|(?:mega)?pixels?|dimensions?)\b",
    re.IGNORECASE,
)
"""Parts of a request with limits of their own."""
_ABOUT_LENGTH = re.compile(r"\bcontext|\btokens?\b", re.IGNORECASE)
_NAMED_PART = re.compile(r"^invalid ['\"`]([\w.\[\]]+)['\"`]", re.IGNORECASE)
_CONVERSATION = re.compile(r"(?:messages|input|prompt|contents|system)\b(?!.*\b(?:id|name|tool_call_id)$)")
_RATE = re.compile(r"rate[ _-]?limit|(?:per|/) ?(?:second|min|hour|day|month)|\b[RT]P[MD]\b", re.IGNORECASE)


def is_too_long(message: str, param: str = "") -> bool:
    """Return True if an error says that the conversation does not fit, as opposed to another limit of the request.

    Args:
        message: message of the error.
        param: parameter that it names; empty if none.
    """
    named = _NAMED_PART.match(message)
    if (param or named) and not _CONVERSATION.match(param or (named[1] if named else "")) and param != "max_tokens":
        return False
    if _RATE.search(message) and "too large" not in message.lower():
        return False
    if _OTHER_PART.search(message) and not _ABOUT_LENGTH.search(message):
        return False
    return bool(_TOO_LONG.search(_NOT_THE_PROMPT.sub("", message)))
