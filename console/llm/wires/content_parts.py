"""Content of a message as text, images, audio and files, for APIs with part types of their own."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from console.core.fault import Fault, FaultKind

_DATA = re.compile(r"data:([^;,]+)(?:;[^;,=]+=[^;,]*)*;base64,")


class MediaData(NamedTuple):
    """An image, audio clip or file."""

    kind: str
    """`image`, `audio` or `file`."""
    media_type: str
    """Media type; empty for a link."""
    data: str
    """Base64, or the address of a link."""
    name: str = ""

    @property
    def is_link(self) -> bool:
        """True if the provider has to fetch the data."""
        return not self.media_type


def parts_of(message: Mapping[str, Any]) -> Iterator[str | MediaData]:
    """Yield the parts of a message; plain text is one part; missing content has none.

    Raises:
        Fault: `bad_request`, for a part of an unknown type.
    """
    content = message.get("content")
    if isinstance(content, str):
        yield content
        return
    for part in cast("list[dict[str, Any]]", content or []):
        match part:
            case {"type": "text", "text": str(text)}:
                yield text
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                yield _of_url("image", url)
            case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form)}}:
                yield MediaData("audio", f"audio/{form}", data)
            case {"type": "file", "file": {"file_data": str(url)} as file}:
                yield _of_url("file", url, str(file.get("filename") or "file"))
            case _:
                raise Fault(FaultKind.BAD_REQUEST, f"a message has a part of the unknown type {part.get('type')!r}")


def _of_url(kind: str, url: str, name: str = "") -> MediaData:
    match = _DATA.match(url)
    return MediaData(kind, match[1], url[match.end() :], name) if match else MediaData(kind, "", url, name)


def mapped(
    message: Mapping[str, Any],
    text: Callable[[str], dict[str, Any]],
    media: Callable[[MediaData], dict[str, Any] | None],
    api: str,
) -> list[dict[str, Any]]:
    """Return the parts of a message in an API's format; a message without content is an empty text.

    Args:
        message: the message.
        text: makes a part of a text.
        media: makes a part of anything else, or returns None if the API has no such part.
        api: name of the API, for errors.

    Raises:
        Fault: `bad_request`, for a part that the API does not accept.
    """
    parts: list[dict[str, Any]] = []
    for part in parts_of(message):
        made = text(part) if isinstance(part, str) else media(part)
        if made is None:
            raise refused(cast("MediaData", part), api)
        parts.append(made)
    return parts or [text("")]


def text_only(message: Mapping[str, Any], api: str) -> str:
    """Return the text of a message for an API that accepts nothing else.

    Raises:
        Fault: `bad_request`, for any other part.
    """
    texts: list[str] = []
    for part in parts_of(message):
        if not isinstance(part, str):
            raise refused(part, api)
        texts.append(part)
    return "\n".join(texts)


def refused(part: MediaData, api: str) -> Fault:
    """Return the fault for a part that an API does not accept."""
    what = {"image": "pictures", "audio": "sound", "file": "files"}[part.kind]
    what = f"links to {what}" if part.is_link else f"{what} of the type {part.media_type}"
    return Fault(
        FaultKind.BAD_REQUEST, f"{api} does not accept {what}", hint="Use a model with another API for these cases."
    )
