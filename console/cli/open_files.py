"""The limit on open files, with clear messages when it is reached."""

import contextlib
import errno
import resource
from collections.abc import Iterator
from typing import cast

from console.core.fault import UsageError

LEAST = 20
"""Minimum limit; below it, not even one call can connect."""
PLENTY = 256
_HINT = "Raise the limit, for example with `ulimit -n 1024`."


def raise_limit() -> int:
    """Raise a low limit as much as the system allows, and return the new one; -1 if it is missing or unreadable."""
    limit, most = _limits()
    if limit in range(PLENTY) and limit != most:
        raised = PLENTY if most == resource.RLIM_INFINITY else min(PLENTY, most)
        with contextlib.suppress(OSError, ValueError):  # refused, so the old limit stays
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, most))
            limit = raised
    if limit in range(LEAST):
        raise UsageError(f"this process may open only {limit} files at once, but needs {LEAST}", hint=_HINT)
    return limit


def is_shortage(error: BaseException) -> bool:
    """Return whether an error was caused by a lack of file descriptors, in this process or system-wide."""
    return any(isinstance(link, OSError) and link.errno in (errno.EMFILE, errno.ENFILE) for link in error_chain(error))


def shortage_text() -> str:
    """Return a message about the shortage, with a remedy."""
    limit, _ = _limits()
    held = f"; this process may hold {limit} at once" if limit >= 0 else ""
    return f"too many open files{held}\n  {_HINT} Finished cases are kept; `eval-console resume` continues a run."


def _limits() -> tuple[int, int]:
    """Return the soft and the hard limit; -1 for one that does not exist or cannot be read."""
    try:
        return resource.getrlimit(resource.RLIMIT_NOFILE)
    except (OSError, ValueError):
        return resource.RLIM_INFINITY, resource.RLIM_INFINITY


def error_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, the members of an exception group, and their causes."""
    link: BaseException | None = error
    while link is not None:
        yield link
        if isinstance(link, BaseExceptionGroup):
            for inner in cast("BaseExceptionGroup[BaseException]", link).exceptions:
                yield from error_chain(inner)
        link = link.__cause__ or link.__context__
