"""Reads OTLP JSON: the spans of a line, and attributes as plain values."""

from typing import Any

Json = dict[str, Any]


def spans(line: Json) -> list[Json]:
    (resource,) = line["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    return scope["spans"]


def values(holder: Json) -> Json:
    """Return attributes as plain values."""
    return {attribute["key"]: plain(attribute["value"]) for attribute in holder["attributes"]}


def plain(value: Json) -> Any:
    ((kind, inner),) = value.items()
    if kind == "arrayValue":
        return [plain(item) for item in inner["values"]]
    return int(inner) if kind == "intValue" else inner
