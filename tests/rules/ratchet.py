"""Exceptions to a rule that may only become fewer."""

from collections.abc import Iterable


def assert_only(offenders: Iterable[str], exceptions: frozenset[str] = frozenset()) -> None:
    """Hold that nothing offends but the exceptions, and that each of these still does."""
    current = set(offenders)
    assert not current - exceptions, f"against the rule: {sorted(current - exceptions)}"
    assert not exceptions - current, f"no exception any more, take it out of the table: {sorted(exceptions - current)}"
