"""Indexes of journals (`index.msgpack`) that somebody damaged, or made with a checksum that holds."""

import random
from typing import Any
from zlib import compress, crc32, decompress

import msgspec

_COMPRESSED = b"\x78\x01"


def change(data: bytes, place: int, rng: random.Random) -> bytes:
    return data[:place] + bytes([data[place] ^ rng.randrange(1, 256)]) + data[place + 1 :]


def damaged(value: Any, rng: random.Random) -> Any:
    """Put something else at one place of a value."""
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        items = list(value)
        if rng.random() < 0.15:
            return items[:place] + items[place + 1 :]
        items[place] = damaged(items[place], rng)
        return items
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(list(value))
        return {**value, name: damaged(value[name], rng)}
    if isinstance(value, bytes) and value.startswith(_COMPRESSED) and rng.random() < 0.8:
        rollouts = msgspec.msgpack.decode(decompress(value))
        return compress(msgspec.msgpack.encode(damaged(rollouts, rng)), 1)
    if isinstance(value, bytes) and value and rng.random() < 0.9:
        return (
            change(value, rng.randrange(len(value)), rng) if rng.random() < 0.7 else value[: rng.randrange(len(value))]
        )
    if isinstance(value, int) and rng.random() < 0.6:
        return rng.choice([value + 1, value - 1, -value, 10**9, 2**63 - 1, 0])
    return rng.choice([None, True, -1, 0.5, 10**18, "x", b"\xff" * 8, [], {}, [[]], [None] * 3, "\U0010ffff"])


def crafted(sound: bytes, rng: random.Random) -> bytes:
    """Change one value in an index, and give it a checksum that holds."""
    length = int.from_bytes(sound[4:8], "big")
    parts = [msgspec.msgpack.decode(part) for part in (sound[8 : 8 + length], sound[8 + length :])]
    place = rng.randrange(2)
    parts[place] = damaged(parts[place], rng)
    head, derived = map(msgspec.msgpack.encode, parts)
    return crc32(derived, crc32(head)).to_bytes(4, "big") + len(head).to_bytes(4, "big") + head + derived
