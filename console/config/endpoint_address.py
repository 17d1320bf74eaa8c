"""Validation of endpoint addresses, both in models.toml and among a suite's options."""

from urllib.parse import parse_qsl, urlsplit

from console.config.redaction import looks_like_key, sounds_secret

_LONGEST_PARAMETER = 24
"""Maximum length of a value in an address; longer ones that are not words are treated as keys."""


def address_mistake(value: str) -> str:
    """Return the defect in an address, worded as the end of a sentence; empty if it is valid."""
    if not value.startswith(("http://", "https://")):
        return "must begin with http:// or https://, like https://api.openai.com/v1"
    if any(character.isspace() or not character.isprintable() for character in value):
        return "must not contain spaces or control characters"
    try:
        parts = urlsplit(value)
        is_host = bool(parts.hostname) and 0 < (parts.port or 1) < 65536
    except ValueError:  # such as a port that is not a number
        is_host = False
    if not is_host:
        return "must name a host, and a port from 1 to 65535 if any, like https://api.openai.com/v1"
    if has_secret(value):
        return (
            "must not contain a key or password, because addresses are shown and recorded: name its variable"
            ' with api_key_env, or send it in another header with headers = { "X-Api-Key" = "…" }'
        )
    if value.rstrip("/").endswith("/chat/completions"):
        return "must end before /chat/completions"
    return ""


def has_secret(address: str) -> bool:
    """Return whether an address carries a user, a password or a key: before the host, in its path or in its query."""
    parts = urlsplit(address)
    if "@" in parts.netloc or looks_like_key(address):
        return True
    # Azure Functions pass the key of a function as `code`.
    for name, value in parse_qsl(parts.query) + parse_qsl(parts.fragment):
        if sounds_secret(name) or name.lower() == "code" or _is_random(value):
            return True
    return False


def _is_random(value: str) -> bool:
    """Return whether a value looks random: long, with letters and digits mixed."""
    letters = value.replace("-", "").replace("_", "")
    return len(value) > _LONGEST_PARAMETER and letters.isalnum() and not letters.isalpha() and not letters.isdigit()
