"""Images, audio and files of messages in exports, whose bytes come from the run's folder."""

import base64
from collections.abc import Callable
from typing import Any

from console.core.media import Media, MediaReference, media_part
from console.exchange.exports.html_parts import safe
from console.insight.message import NormalizedMessage
from console.insight.passage import Passage

Json = dict[str, Any]
Read = Callable[[MediaReference], bytes | None]
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Types of images that pages show; others, such as SVG, may contain code."""
_SOUNDS = {"audio/mpeg": "mp3", "audio/wav": "wav"}
EMBEDDED_AT_MOST = 4_000_000
"""Maximum number of bytes in a file embedded in a page."""


def chat_content(message: NormalizedMessage, read: Read) -> str | list[Json]:
    """Return the content of a message for the chat API: text, or parts with base64; missing files become a note."""
    return _content(message, read, lambda media, data: media_part(data, media.reference.media_type, media.name))


def inspect_content(message: NormalizedMessage, read: Read) -> str | list[Json]:
    """Return the content of a message in the format of Inspect logs."""
    return _content(message, read, _inspect_part)


def _content(message: NormalizedMessage, read: Read, make: Callable[[Media, bytes], Json]) -> str | list[Json]:
    parts: list[Json] = []
    for media in message.media:
        data = read(media.reference)
        parts.append({"type": "text", "text": media.placeholder} if data is None else make(media, data))
    return [{"type": "text", "text": message.own_text}, *parts] if parts else message.text


def _inspect_part(media: Media, data: bytes) -> Json:
    url = _data_url(media, data)
    match media.kind:
        case "image":
            return {"type": "image", "image": url, "detail": "auto"}
        case "audio":
            return {"type": "audio", "audio": url, "format": _SOUNDS.get(media.reference.media_type, "wav")}
        case _:
            return {
                "type": "document",
                "document": url,
                "filename": media.name,
                "mime_type": media.reference.media_type,
            }


def media_html(passage: Passage, room: int = EMBEDDED_AT_MOST) -> str:
    """Return the images and audio clips of a passage as HTML, with their bytes embedded.

    Args:
        passage: the passage, whose text names each of them.
        room: maximum number of characters; files that do not fit are omitted.
    """
    parts: list[str] = []
    for shown in passage.media:
        media, size = shown.media, shown.media.reference.size * 4 // 3 + 200
        kind = media.reference.media_type
        if size > room or (kind not in _PICTURES and kind not in _SOUNDS) or (data := shown.read()) is None:
            continue
        room -= size
        url, words = _data_url(media, data), safe(media.placeholder)
        picture = f'<p><img src="{url}" alt="{words}" height="240"></p>'
        parts.append(picture if kind in _PICTURES else f'<p><audio controls src="{url}"></audio></p>')
    return "".join(parts)


def _data_url(media: Media, data: bytes) -> str:
    return f"data:{media.reference.media_type};base64,{base64.b64encode(data).decode()}"
