"""What is known of the current case before one reads it: views, reason, official type, hint, how many others. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from textual.content import Content

from console.core.annotation import Annotation
from console.core.comparison import Comparison
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.insight import number_format
from console.insight.reasons import sentence
from console.insight.rollout import PREPARED, Rollout
from console.insight.warnings import rollout_warnings
from console.tui.render import lines
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import one_line
from console.tui.suite_views.suite_view import HintLabel, ReviewedCase

MUTED = "$muted"
TAGS = {
    "m": ("model", "model at fault"),
    "g": ("grader", "grader at fault"),
    "d": ("data", "data wrong"),
    "p": ("prompt", "prompt or format"),
    "f": ("flaky", "flaky"),
    "?": ("unsure", "unsure"),
    "0": ("", "remove the tag"),
}
"""Letter of each tag, its value in notes.jsonl, and its meaning."""
LETTERS = {value: letter for letter, (value, _) in TAGS.items() if value}


def tabs(views: Sequence[str], current: str) -> Content:
    """Return the names of the views, the current one in brackets."""
    return Content("  ").join(
        [Content.styled(f"[{name}]", "bold") if name == current else Content.styled(name, MUTED) for name in views]
    )


def spent(rollout: Rollout, *, simulated: bool = False) -> Content:
    """Return time and cost of a rollout; of one that was simulated in part, what the rest cost."""
    made_up = simulated and not rollout.cost_usd
    cost = (
        "simulated" if made_up else number_format.money(rollout.cost_usd) if rollout.cost_usd is not None else "cost ?"
    )
    attempt = f"attempt {rollout.key.attempt} of {len(rollout.attempts)}" if len(rollout.attempts) > 1 else ""
    parts = [attempt, number_format.duration(rollout.seconds), cost]
    return Content.styled("  ".join(part for part in parts if part), MUTED)


def reason_line(rollout: Rollout, comparison: Comparison | None, width: int) -> Content:
    """Return outcome mark, reason in words and the grader's message, on one line."""
    if rollout.outcome is None:
        return Content.styled(" not finished", MUTED)
    if rollout.is_prepared:
        prepared = Content.styled(f" {SYMBOLS.prepared} {PREPARED}   ", f"bold {MUTED}")
        return lines.fit(prepared.append(one_line(rollout.message, 400, MUTED)), width)
    style = OUTCOME_STYLES[rollout.outcome]
    words = comparison.sentence if comparison and comparison.sentence else ""
    words = words or sentence(rollout.reason, rollout.subject, rollout.outcome)
    line = Content.assemble(
        (f" {SYMBOLS.of(rollout.outcome)} ", f"bold {style}"), one_line(words, 160, f"bold {style}")
    )
    is_summed_up = comparison is not None and bool(comparison.sentence)
    is_said = is_summed_up and rollout.outcome in (Outcome.PASSED, Outcome.UNDECIDED)
    message = "" if is_said or rollout.message in words else rollout.message
    return lines.fit(line.append("   ").append(one_line(message, 400)), width) if message else lines.fit(line, width)


def detail_lines(case: ReviewedCase, hint_label: HintLabel, alike: int, width: int) -> list[Content]:
    """Return the official type, how many others have the same reason, and the smallest change that passes."""
    rollout, verdict, comparison = case.rollout, case.conversation.verdict, case.comparison
    details: list[Content] = []
    rule = comparison.rule if comparison else ""
    if rollout.reason or rule:
        details.append(_named("official", rule or rollout.reason, width))
    if alike > 1:
        others = f"{alike - 1} other" + ("s" if alike > 2 else "")
        details.append(_named("same reason", f"{others} in this list", width))
    if comparison and comparison.hint:
        details.append(_named(hint_label.name, comparison.hint, width, hint_label.style))
    if verdict is not None and verdict.official:
        details.append(_named("officially", verdict.official, width))
    return details


def hint_lines(case: ReviewedCase, label: HintLabel, width: int) -> list[Content]:
    """Return the smallest change that passes, on one line or two."""
    if case.comparison is None or not case.comparison.hint:
        return []
    line = Content.assemble((f"   {label.name:<12}", MUTED), one_line(case.comparison.hint, 300, label.style))
    return two_lines(line, width)


def notice_lines(rollout: Rollout, model: ModelFacts, width: int) -> list[Content]:
    """Return what else must be known: an answer that was cut off, another model than the one that was asked."""
    return [
        _named(name, text, width, "$undecided") for name, text in rollout_warnings(rollout.cut, rollout.model, model)
    ]


def annotation_lines(annotation: Annotation, width: int) -> list[Content]:
    """Return what readers wrote: the dispute with who and when, and the comment."""
    notes: list[Content] = []
    if annotation.dispute:
        when = datetime.fromtimestamp(annotation.disputed_at, UTC).astimezone().strftime("%d %b %H:%M")
        by = f"   {annotation.disputed_by or 'somebody'}, {when}"
        line = _named("disputed", annotation.dispute, max(width - len(by), 30), "$undecided")
        notes.append(line.append(one_line(by, 60, MUTED)))
    if annotation.comment:
        notes.append(_named("comment", annotation.comment, width))
    return notes


def annotation_letter(annotation: Annotation) -> Content:
    """Return one letter for the list: `D` disputed, the tag's own, `c` a comment, `r` reviewed."""
    if annotation.dispute:
        return Content.styled("D", "bold $undecided")
    tag = LETTERS.get(annotation.tag, annotation.tag[:1]) or ("c" if annotation.comment else "")
    return Content.styled(tag, "bold $live") if tag else Content.styled("r" if annotation.reviewed else "", MUTED)


def two_lines(sentence: Content, width: int) -> list[Content]:
    """Return a sentence on one line or two; a longer one is whole in the verdict at the end of the text."""
    first, *more = lines.wrap(sentence.plain, width)
    rest = [lines.fit(Content("   ").append(sentence[start:]), width) for start, _ in more[:1]]
    return [sentence[: first[1]], *rest]


def _named(name: str, text: str, width: int, style: str = "") -> Content:
    return lines.fit(Content.styled(f"   {name:<12}", MUTED).append(one_line(text, 1000, style)), width)


def counters(place: int, count: int, seen: int, outcome: Outcome | None) -> Content:
    """Return `✗ 2 of 38  15 reviewed`."""
    sign = SYMBOLS.of(outcome) if outcome is not None else ""
    style = OUTCOME_STYLES[outcome] if outcome is not None else MUTED
    return Content.assemble(
        (f"{sign} ", style), (f"{number_format.count(place)} of {number_format.count(count)}", "bold"),
        (f"  {number_format.count(seen)} reviewed", MUTED),
    )  # fmt: skip
