"""A conversation and its comparison as plain lines, for `show`, `review` and pipes."""

from console.cli.history import PlayedRollout
from console.cli.output import Output
from console.core.comparison import Comparison, Mark, Pair
from console.core.outcome import Outcome
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.number_format import number
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import reason_words, sentence
from console.insight.value_diff import equal_paths, structured
from console.insight.warnings import rollout_warnings

_STYLES = {"passed": "good", "failed": "bad", "broken": "bad", "undecided": "warning"}


def show_case(output: Output, played: PlayedRollout, manifest: Manifest, comparison: Comparison | None) -> None:
    """Print the result of one rollout: outcome, reason, expected next to actual."""
    mark = f"  ({manifest.simulated_note})" if manifest.simulated else ""
    output.text(f"{played.key}  {played.case.category}  {played.outcome}{mark}", _STYLES.get(played.outcome, "warning"))
    if played.case.title:
        output.text(f"  asked: {played.case.title}")
    verdict = played.finished.verdict if played.finished else None
    if verdict is not None and verdict.reason:
        output.text(f"  {sentence(verdict.reason, verdict.subject, verdict.outcome)}")
    ended = played.finished
    for name, text in rollout_warnings(ended, manifest.model) if ended else ():
        output.text(f"  {name}: {text}", "warning")
    for message in verdict.messages if verdict else ():
        output.text(f"  {message}", "faint")
    if verdict is not None and verdict.official:
        output.text(f"  the official scorer says: {verdict.official}")
    if comparison is not None:
        show_comparison(output, comparison)


def show_transcript(output: Output, conversation: Conversation) -> None:
    """Print the whole conversation."""
    for passage in conversation.passages:
        output.text()
        output.text(_heading(passage), "strong")
        if text := _words(passage):
            output.text("\n".join(f"  {line}" for line in text.split("\n")))


def show_comparison(output: Output, comparison: Comparison) -> None:
    """Print expected and actual values, large ones path by path."""
    if comparison.fault:
        output.text(f"  {comparison.fault}", "warning")
    for pair in comparison.pairs:
        _show_pair(output, pair)
    if not comparison.pairs and comparison.raw:
        output.text(f"  answered: {comparison.raw}")
    if comparison.hint:
        output.text(f"  hint: {comparison.hint}")


def _show_pair(output: Output, whole: Pair) -> None:
    paths = structured(whole)
    pair = paths.pair
    if pair.kind == "blame":
        _below(output, f"  {pair.mark.value} {pair.expected}  {pair.actual}")
    elif pair.expected or pair.mark in (Mark.MISSING, Mark.EXTRA):
        _below(output, f"  {pair.mark.value} expected {pair.expected or '(nothing)'}")
        _below(output, f"    actual   {pair.actual or '(nothing)'}")
    else:
        _below(output, f"  {pair.mark.value} {pair.actual}")
    for row in pair.rows:
        expected = " | ".join(row.expected) or "(nothing)"
        actual = "(not given)" if row.actual is None else row.actual
        note = f"   {words}" if (words := row.note or "may be left out" * row.optional) else ""
        arrow = "  ◀" if row.decisive else ""
        _below(output, f"      {row.mark.value} {row.name}: {expected}  →  {actual}{note}{arrow}")
    if paths.equal:
        output.text(f"      {Mark.SAME.value} {equal_paths(paths.equal)}", "faint")


def _below(output: Output, text: str) -> None:
    """Print a text with all lines after the first indented, so that they do not look like our output."""
    output.text(text.replace("\n", "\n        "))


def _heading(passage: Passage) -> str:
    is_reason = passage.kind in (PassageKind.TRY, PassageKind.VERDICT) and passage.head != Outcome.PASSED
    head = reason_words(passage.head) if is_reason else passage.head
    parts = [passage.kind.value, head, "" if passage.role == "model" else f"({passage.role})"]
    parts.append(passage.answered_by)
    if passage.kind is PassageKind.SCORE:
        parts.append("undetermined" if passage.value is None else number(passage.value))
        parts.append("" if passage.threshold is None else f"(threshold {number(passage.threshold)})")
    return f"[{passage.turn + 1}.{passage.step + 1}] " + " ".join(part for part in parts if part)


def _words(passage: Passage) -> str:
    if passage.kind is PassageKind.CALL and passage.arguments is not None:
        return "\n".join(f"{name} = {value}" for name, value in passage.arguments)
    return passage.text
