"""Options and output of the regression gate: `--fail-if-worse`, `--margin`, `--metric`."""

import argparse
from typing import TYPE_CHECKING, Any, Protocol

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.core.fault import UsageError
from console.core.looks import Margin, read_margin
from console.core.run import Summary
from console.core.statistics.decision import Decision

if TYPE_CHECKING:
    from console.insight.comparison import RunComparison
    from console.insight.gate import Gate

_CODES = {
    Decision.NOT_WORSE: Exit.OK,
    Decision.WORSE: Exit.BELOW,
    Decision.CANNOT_TELL: Exit.INCONCLUSIVE,
}
_STYLES = {Decision.NOT_WORSE: "good", Decision.WORSE: "bad", Decision.CANNOT_TELL: "warning"}


class GateOptions(Protocol):
    """Parsed options of the gate."""

    fail_if_worse: bool
    margin: str | None
    metric: str | None


def add_gate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the gate's options, in a group of their own."""
    gate = parser.add_argument_group("gate (exit 0 not worse, 1 worse, 3 inconclusive)")
    gate.add_argument("--fail-if-worse", action="store_true", help="fail if B is worse than A, for CI")
    gate.add_argument("--margin", metavar="M", help="how much worse B may be: 1pt or 0.01; a number for other scores")
    gate.add_argument(
        "--metric", metavar="NAME", help="passed (default), or a score that both runs have; higher is better"
    )


def margin_of(args: GateOptions) -> Margin | None:
    """Return the margin."""
    for flag, value in (("--margin", args.margin), ("--metric", args.metric)):
        if value is not None and not args.fail_if_worse:
            raise UsageError("only applies to the gate", where=flag, hint="Add --fail-if-worse.")
    return read_margin(args.margin)


def gate_of(args: GateOptions, comparison: "RunComparison", a: Summary, b: Summary) -> "Gate | None":
    """Return the gate's result, or None if it was not requested."""
    margin = margin_of(args)
    if not args.fail_if_worse:
        return None
    from console.insight.gate import judge

    return judge(comparison, a, b, margin=margin, metric=args.metric)


def gate_code(gate: "Gate | None") -> Exit:
    """Return the exit code for the gate's result."""
    return Exit.OK if gate is None else _CODES[gate.verdict]


def show_gate(output: Output, gate: "Gate") -> None:
    """Print the gate's result in a sentence."""
    output.text(gate.sentence, _STYLES[gate.verdict])


def with_gate(values: dict[str, Any], gate: "Gate | None") -> dict[str, Any]:
    """Return the fields of a comparison, with the gate's result if requested."""
    if gate is None:
        return values
    result = {"verdict": gate.verdict.value, "sentence": gate.sentence, "metric": gate.metric, "margin": gate.margin}
    return values | {"gate": result | {"exit": int(gate_code(gate))}}
