"""Differences in the grading of runs, as a sentence with a remedy. Pure."""

from collections.abc import Iterable, Sequence
from shlex import quote

from console.core.grader import differences
from console.core.run import Manifest

NOT_RECORDED = "grader not recorded"


def grading_differences(a: Manifest, b: Manifest) -> list[str]:
    """Return the differences between the graders of two runs as text; empty if equal or one is not recorded."""
    if a.grader is None or b.grader is None:
        return []
    same_cases = (a.suite, a.selection, a.cases, a.rollouts) == (b.suite, b.selection, b.cases, b.rollouts)
    return list(differences(a.grader, b.grader, same_cases=same_cases))


def grading_words(a: Manifest, b: Manifest) -> str:
    """Return a line on differences in the grading of two runs, with a command to grade them alike; empty without any.

    Parts are untrusted text.
    """
    if (a.grader is None) != (b.grader is None):
        return f"{NOT_RECORDED} for {'A' if a.grader is None else 'B'}, a run of an earlier version"
    if a.suite != b.suite or not (differs := grading_differences(a, b)):
        return ""
    if b.regraded == a.id:
        return f"B is A graded again: {'; '.join(differs)}"
    return f"graded differently: {'; '.join(differs)}; {regrade_command(a, b)} grades both alike"


def regrade_command(*runs: Manifest) -> str:
    """Return the command that grades runs alike, with the judge of the last one. Parts are untrusted text."""
    judges = {role.name for run in runs if (role := run.roles.get("judge")) is not None}
    judge = runs[-1].roles.get("judge")
    option = f" --judge {quote(judge.name)}" if judge is not None and len(judges) > 1 else ""
    return f"`eval-console regrade {' '.join(quote(run.id) for run in runs)}{option}`"


def mixed_grading(runs: Iterable[Manifest]) -> str:
    """Return a line on differences in the grading of runs listed together; empty if they were graded alike.

    Parts are untrusted text.
    """
    listed: Sequence[Manifest] = [run for run in runs if run.grader is not None]
    if not listed:
        return ""
    newest = max(listed, key=lambda run: run.at)
    others = [run for run in listed if grading_differences(run, newest)]
    if not others:
        return ""
    differs = "; ".join(grading_differences(others[0], newest))
    return f"graded differently: {differs}; {regrade_command(*others, newest)} grades them alike"
