"""Pictures, sound and files in messages: content parts of the OpenAI chat API, whose bytes are stored separately.

A suite sends the bytes as base64. In the journal, and everywhere else in this program, a reference replaces them,
`sha256:DIGEST;TYPE;BYTES` with the size of a picture; the bytes are stored once in the run's folder. Only requests to
models and exports contain base64 again.
"""

import base64
import binascii
import hashlib
import mimetypes
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

_DATA = re.compile(r"data:(?P<kind>[\w.+-]+)/(?P<form>[\w.+-]+)?[^,]{0,80},", re.ASCII)
_BASE64 = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,", re.ASCII)
_REFERENCE = re.compile(r"sha256:([0-9a-f]{64});([\w.+-]+/[\w.+-]+);(\d+)(?:;(\d+)x(\d+))?", re.ASCII)
_LOOKED_AT = 1 << 16
"""Characters of an inline image searched for its size."""
_PLACES = {"image_url": ("image_url", "url"), "input_audio": ("input_audio", "data"), "file": ("file", "file_data")}
"""Location of the data in each type of part: the name of an object in the part, and of a field in the object."""
_KINDS = {"image_url": "image", "input_audio": "audio", "file": "file"}
_SOUNDS = {"wav": "audio/wav", "mp3": "audio/mpeg"}
Part = dict[str, Any]
KEPT_AT_ONCE = 64
"""Decoded contents kept in memory."""


class MediaReference(NamedTuple):
    """A reference to the bytes of a part."""

    digest: str
    media_type: str
    size: int
    """Number of bytes."""
    width: int = 0
    """Width and height of a picture; 0 if unknown."""
    height: int = 0

    @property
    def file_name(self) -> str:
        """Name of the file in a run's folder."""
        return f"{self.digest}{mimetypes.guess_extension(self.media_type) or '.bin'}"

    def __str__(self) -> str:
        """Return the reference as it is in messages."""
        size = f";{self.width}x{self.height}" if self.width else ""
        return f"sha256:{self.digest};{self.media_type};{self.size}{size}"


class Media(NamedTuple):
    """A content part whose bytes are stored separately."""

    kind: str
    """`image`, `audio` or `file`."""
    reference: MediaReference
    name: str = ""
    """Name of a file, as the suite gave it. Untrusted text."""

    @property
    def placeholder(self) -> str:
        """The part as text, such as `[image 640×480 png, 12 kB]`."""
        ref = self.reference
        size = f" {ref.width}×{ref.height}" if ref.width else ""
        name = f" {self.name}" if self.name else ""
        return f"[{self.kind}{name}{size} {ref.media_type.partition('/')[2]}, {max(ref.size // 1000, 1):,} kB]"


def media_part(data: bytes, media_type: str, name: str = "") -> Part:
    """Return bytes as a content part that a suite can send."""
    encoded = base64.b64encode(data).decode()
    kind = media_type.partition("/")[0]
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{encoded}"}}
    form = next((form for form, sound in _SOUNDS.items() if sound == media_type), "")
    if form:
        return {"type": "input_audio", "input_audio": {"data": encoded, "format": form}}
    return {"type": "file", "file": {"filename": name or "file", "file_data": f"data:{media_type};base64,{encoded}"}}


def media_type_of(name: str) -> str:
    """Return the media type of a file by its name."""
    by_sound = _SOUNDS.get(name.rpartition(".")[2].lower())
    return by_sound or mimetypes.guess_type(name)[0] or "application/octet-stream"


def kept_apart(messages: Sequence[Any]) -> tuple[Sequence[Any], dict[str, bytes]]:
    """Return messages with references in place of base64, and the bytes by reference; without any, the same messages.

    Raises:
        ValueError: base64 that cannot be decoded, or an unknown media type.
    """
    if not any(isinstance(message.get("content"), list) for message in messages):
        return messages, {}
    contents: dict[str, bytes] = {}

    def kept(value: str, part: Part) -> str:
        reference, data = _decoded(value, _form_of(part))
        if data is not None:
            contents[reference] = data
        return reference

    return _with_data(messages, kept), contents


def check_media(messages: Sequence[Any]) -> None:
    """Check the media of messages from outside, which must not refer to bytes of a run.

    Raises:
        ValueError: base64 that cannot be decoded, an unknown media type, or a reference.
    """

    def check(value: str, _part: Part) -> str:
        if read_reference(value) is not None:
            raise ValueError("a picture, sound or file is a reference of this program")
        return value

    kept_apart(_with_data(messages, check))


def with_contents(messages: Sequence[Any], read: Callable[[MediaReference], bytes]) -> list[Any]:
    """Return messages with base64 in place of references."""

    def encoded(value: str, part: Part) -> str:
        reference = read_reference(value)
        if reference is None:
            return value
        data = base64.b64encode(read(reference)).decode()
        return data if _form_of(part) else f"data:{reference.media_type};base64,{data}"

    return _with_data(messages, encoded)


def read_reference(value: object) -> MediaReference | None:
    """Parse a reference; None for any other value."""
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) and len(value) < 250 else None
    if match is None:
        return None
    digest, media_type, size, width, height = match.groups()
    return MediaReference(digest, media_type, int(size), int(width or 0), int(height or 0))


def media_in(content: object) -> list[Media]:
    """Return the parts of a message's content whose bytes are stored separately."""
    return [media for part in _parts(content) if (media := _media_of(part)) is not None]


def content_text(content: object) -> str:
    """Return the text of a message's content, with placeholders for pictures, sound and files."""
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(filter(None, map(_part_text, _parts(content))))


def text_alone(content: object) -> str:
    """Return the text of a message's content without placeholders for other parts."""
    return "\n".join(part["text"] for part in _parts(content) if isinstance(part.get("text"), str))


def _part_text(part: Part) -> str:
    if isinstance(part.get("text"), str):
        return part["text"]
    if (media := _media_of(part)) is not None:
        return media.placeholder
    kind = str(part.get("type", "part"))
    return media_name(_KINDS.get(kind, kind), _data_of(part))


def _media_of(part: Part) -> Media | None:
    reference = read_reference(_data_of(part))
    if reference is None:
        return None
    name = part["file"].get("filename") if part["type"] == "file" else ""
    return Media(_KINDS[part["type"]], reference, str(name or ""))


def _parts(content: object) -> list[Part]:
    listed = cast("list[Any]", content) if isinstance(content, list) else []
    return [cast("Part", part) for part in listed if isinstance(part, dict)]


def _data_of(part: Part) -> str | None:
    place = _PLACES.get(str(part.get("type")))
    inner = part.get(place[0]) if place is not None else None
    value = cast("Mapping[str, Any]", inner).get(place[1]) if place is not None and isinstance(inner, dict) else None
    return value if isinstance(value, str) else None


def _form_of(part: Part) -> str:
    """Return the format of a sound, whose data is bare base64; empty for data URLs."""
    sound = part.get("input_audio")
    return str(cast("Part", sound).get("format", "")) if part.get("type") == "input_audio" and sound else ""


def _with_data(messages: Sequence[Any], change: Callable[[str, Part], str]) -> list[Any]:
    return [
        {**message, "content": [_changed(part, change) for part in message["content"]]}
        if isinstance(message.get("content"), list)
        else message
        for message in messages
    ]


def _changed(given: object, change: Callable[[str, Part], str]) -> object:
    part: Part = cast("Part", given) if isinstance(given, dict) else {}
    value = _data_of(part)
    if value is None:
        return cast("object", given)
    outer, inner = _PLACES[part["type"]]
    return {**part, outer: {**part[outer], inner: change(value, part)}}


@lru_cache(maxsize=KEPT_AT_ONCE)
def _decoded(value: str, form: str) -> tuple[str, bytes | None]:
    """Return the reference and the bytes of a part's data; the value itself if it is not base64, such as a link."""
    match = _BASE64.match(value)
    if match is None and (not form or read_reference(value) is not None):
        return value, None
    media_type = match["type"] if match is not None else _SOUNDS.get(form, f"audio/{form}")
    try:
        data = base64.b64decode(value[match.end() :] if match is not None else value, validate=True)
    except ValueError:
        raise ValueError(f"the data of type {media_type[:40]} is not base64") from None
    size = image_size(data) if media_type.startswith("image/") else None
    reference = str(MediaReference(hashlib.sha256(data).hexdigest(), media_type, len(data), *(size or (0, 0))))
    if read_reference(reference) is None:
        raise ValueError(f"a sound has the unknown format {form[:40]!r}")
    return reference, data


def media_name(kind: str, value: Any) -> str:
    """Return the placeholder of an image, a sound or a file; `value` is a data URL, a URL or a path."""
    source = value if isinstance(value, str) else ""
    match = _DATA.match(source)
    if match is None:
        return f"[{kind} {source[:200]}]" if source else f"[{kind}]"
    form = match["form"] or ""
    size = image_size(_bytes(source[match.end() : match.end() + _LOOKED_AT])) if kind == "image" else None
    return " ".join(filter(None, (f"[{kind}", f"{size[0]}×{size[1]}" if size else "", form))) + "]"


def _bytes(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded[: len(encoded) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return the width and height from the first bytes of a PNG, GIF, JPEG or WebP image; None if not found."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return struct.unpack(">II", data[16:24])
        if data.startswith((b"GIF87a", b"GIF89a")):
            return struct.unpack("<HH", data[6:10])
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp_size(data)
        if data.startswith(b"\xff\xd8"):
            return _jpeg_size(data)
    except (struct.error, IndexError):
        pass
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[12:16] == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None
