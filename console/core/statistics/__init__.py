"""The one place where numbers are estimated from samples: intervals, tests, repeats, power, agreement. Pure Python.

It stands in `core`, the lowest room, because suites need intervals for their reports as much as `insight` does for the
screens. Every interval is two-sided, 95 % unless said otherwise; docs/statistics.md gives each formula its source.
"""
