"""What an address of an endpoint must look like, wherever it is written: in models.toml or among a suite's options."""

from urllib.parse import urlsplit


def address_mistake(value: str) -> str:
    """Return what is wrong with an address, as the end of a sentence about it; nothing when it can be asked."""
    if not value.startswith(("http://", "https://")):
        return "must begin with http:// or https://, like https://api.openai.com/v1"
    if any(character.isspace() or not character.isprintable() for character in value):
        return "must not contain spaces or control characters"
    try:
        parts = urlsplit(value)
        is_host = bool(parts.hostname) and 0 < (parts.port or 1) < 65536
    except ValueError:  # such as a port of letters
        is_host = False
    if not is_host:
        return "must name a host, and no other port than 1 to 65535, like https://api.openai.com/v1"
    if value.rstrip("/").endswith("/chat/completions"):
        return "must end before /chat/completions"
    return ""
