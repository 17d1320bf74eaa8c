"""Types that msgspec may decode from any thread."""

import threading
from typing import Any, TypeVar

import msgspec

KindT = TypeVar("KindT")
_READY = set[Any]()
_LOCK = threading.Lock()


def ready_type(kind: KindT) -> KindT:
    """Return a type for `convert`, `decode` or a decoder, prepared by one thread at a time.

    msgspec describes a struct when it is first decoded, and stores the description before it is complete. A second
    thread that decodes the struct at that moment reads uninitialized memory, and the process crashes.
    """
    if kind not in _READY:
        with _LOCK:
            msgspec.msgpack.Decoder(kind)
            _READY.add(kind)
    return kind
