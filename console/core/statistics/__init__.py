"""The only place where numbers are estimated from samples: intervals, tests, repeats, power, agreement. Pure Python.

Part of `core`, because both suites (for reports) and `insight` (for screens) need it. Every interval is two-sided, 95 %
unless stated otherwise; docs/statistics.md gives the source of each formula.
"""
