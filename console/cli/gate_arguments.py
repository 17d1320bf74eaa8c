"""Options of the gate, and its answer as text, JSON and exit code: `--fail-if-worse`, `--margin`, `--metric`."""

import argparse
from typing import Any, Protocol

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.core.fault import UsageError
from console.core.run import Summary
from console.insight.comparison import RunComparison
from console.insight.gate import Gate, GateVerdict, Margin, judge, read_margin

_CODES = {
    GateVerdict.NOT_WORSE: Exit.OK,
    GateVerdict.WORSE: Exit.BELOW,
    GateVerdict.CANNOT_TELL: Exit.INCONCLUSIVE,
}
_STYLES = {GateVerdict.NOT_WORSE: "good", GateVerdict.WORSE: "bad", GateVerdict.CANNOT_TELL: "warning"}


class GateOptions(Protocol):
    """What a verb with a gate knows: when a run counts as worse."""

    fail_if_worse: bool
    margin: str | None
    metric: str | None


def add_gate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add them, in a group of their own."""
    gate = parser.add_argument_group("gate (exit 0 not worse, 1 worse, 3 cannot tell)")
    gate.add_argument("--fail-if-worse", action="store_true", help="judge whether B is worse than A, for CI")
    gate.add_argument("--margin", metavar="M", help="how much worse B may be: 1pt, 0.01; of other scores a number")
    gate.add_argument("--metric", metavar="NAME", help="passed, or a score that both runs have; more is better")


def margin_of(args: GateOptions) -> Margin | None:
    """Return the margin.

    Raises:
        UsageError: it cannot be read, or is given where nothing is judged.
    """
    for flag, value in (("--margin", args.margin), ("--metric", args.metric)):
        if value is not None and not args.fail_if_worse:
            raise UsageError("says what to judge, and nothing is judged", where=flag, hint="Add --fail-if-worse.")
    return read_margin(args.margin)


def gate_of(args: GateOptions, comparison: RunComparison, a: Summary, b: Summary) -> Gate | None:
    """Return the gate's answer; None when it was not asked.

    Raises:
        UsageError: the options do not fit each other or the runs.
    """
    margin = margin_of(args)
    return judge(comparison, a, b, margin=margin, metric=args.metric) if args.fail_if_worse else None


def gate_code(gate: Gate | None) -> Exit:
    """Return the exit code that the answer asks for."""
    return Exit.OK if gate is None else _CODES[gate.verdict]


def show_gate(output: Output, gate: Gate) -> None:
    """Write the sentence."""
    output.text(gate.sentence, _STYLES[gate.verdict])


def with_gate(values: dict[str, Any], gate: Gate | None) -> dict[str, Any]:
    """Return the fields of a comparison with the gate's answer, if it was asked."""
    if gate is None:
        return values
    said = {"verdict": gate.verdict.value, "sentence": gate.sentence, "metric": gate.metric, "margin": gate.margin}
    return values | {"gate": said | {"exit": int(gate_code(gate))}}
