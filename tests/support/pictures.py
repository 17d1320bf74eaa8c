"""Pictures without a library."""

import struct
import zlib


def png(width: int = 4, height: int = 4) -> bytes:
    """Return a picture that is red above and blue below."""
    rows = [(b"\xff\0\0" if row < height // 2 else b"\0\0\xff") * width for row in range(height)]
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [b"IHDR" + header, b"IDAT" + zlib.compress(b"".join(b"\0" + row for row in rows)), b"IEND"]
    packed = [struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part)) for part in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)
