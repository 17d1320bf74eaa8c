"""How many files this process may have open at once; running out of them has a clear message."""

import errno
import resource
from collections.abc import Iterator
from typing import cast

from console.core.fault import UsageError

LEAST = 16
"""With fewer, not even one call of a run gets its connection."""
PLENTY = 256
_HINT = "Raise that, such as by `ulimit -n 1024`."


def raise_limit() -> int:
    """Take as many as the system lets this process have where it starts with few, and return how many that are.

    Raises:
        UsageError: they are too few for anything.
    """
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit in range(PLENTY) and limit != most:
        limit = PLENTY if most == resource.RLIM_INFINITY else min(PLENTY, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
    if limit in range(LEAST):
        raise UsageError(f"this process may hold only {limit} files open at once, {LEAST} are needed", hint=_HINT)
    return limit


def is_shortage(error: BaseException) -> bool:
    """Whether an error came of having no file descriptor left, here or on the whole machine."""
    return any(isinstance(link, OSError) and link.errno in (errno.EMFILE, errno.ENFILE) for link in error_chain(error))


def shortage_text() -> str:
    """Say that they ran out, and what to do."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        f"too many open files; this process may hold {limit} at once\n"
        f"  {_HINT} Finished cases are kept; `eval-console resume` goes on with a run."
    )


def error_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, those that it is a group of, and what led to them."""
    link: BaseException | None = error
    while link is not None:
        yield link
        if isinstance(link, BaseExceptionGroup):
            for inner in cast("BaseExceptionGroup[BaseException]", link).exceptions:
                yield from error_chain(inner)
        link = link.__cause__ or link.__context__
