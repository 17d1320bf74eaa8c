"""Warnings about a rollout in addition to its verdict: a truncated last answer, an answer by another model."""

import re
from collections.abc import Mapping

from console.core.run import Manifest, ModelFacts, Summary, reroll_words
from console.core.tally import Ended
from console.core.weights import weights_warning
from console.insight.reasons import cut_words

_EDITION = re.compile(r"[-@:](?:\d[\w.-]*|latest)\Z")
"""Suffixes that providers add to the name of the same model: a date or a version."""


_FEWEST_WRITTEN = 5
_SMALLEST_SHARE = 0.2
"""Minimum number of failures with a call as text, and their share of all failures, to suspect a missing tool parser."""


def rollout_warnings(ended: Ended, model: ModelFacts) -> list[tuple[str, str]]:
    """Return (short name, sentence) for each warning; parts are untrusted text."""
    warnings: list[tuple[str, str]] = []
    if ended.cut:
        warnings.append(("cut off", f"its last answer was {cut_words(ended.cut)}; the partial answer is judged"))
    if is_other(ended.model, model.model_id):
        warnings.append(("answered by", f"{ended.model} instead of {model.model_id}"))
    if ended.written:
        warnings.append(("as text", f"it wrote a call as text ({ended.written}); the server may have no tool parser"))
    return warnings


def parser_warning(written: Mapping[str, int], failed: int) -> str:
    """Return the evidence that the server has no tool parser; empty if too few failures have a call as text."""
    count = sum(written.values())
    if count < max(_FEWEST_WRITTEN, _SMALLEST_SHARE * failed):
        return ""
    forms = ", ".join(written)
    return (
        f"the server probably has no tool parser: {count:,} of {failed:,} failures have a call written as text "
        f"({forms}); `eval-console doctor --try MODEL` checks it"
    )


def run_warnings(summary: Summary, manifest: Manifest) -> list[str]:
    """Return the warnings of a whole run, including the use of unofficial embedding weights."""
    from console.insight.servers import change_words  # lazy: only reports summarize a whole run

    model = manifest.model
    warnings = [weights_warning(manifest.weights)] if weights_warning(manifest.weights) else []
    warnings += [reroll_words(summary.rerolled)] if summary.rerolled else []
    warnings += [
        f"{_rollouts(count)} ended with an answer that was {cut_words(cut)}" for cut, count in summary.cut.items()
    ]
    others = {name: count for name, count in summary.served.items() if is_other(name, model.model_id)}
    warnings += [f"{_rollouts(count)} answered by {name} instead of {model.model_id}" for name, count in others.items()]
    if changed := change_words(summary):
        warnings.append(changed)
    if summary.batches:
        warnings.append(f"waits for {summary.batches}; `eval-console resume` fetches the answers")
    if summary.lost:
        warnings.append(f"{_times(summary.lost)} a worker was lost in a conversation, which continued on another")
    return warnings


def is_other(served: str, asked: str) -> bool:
    """Return whether the server's name denotes another model, ignoring a provider prefix or date."""
    if not served or not asked:
        return False
    answered, requested = served.lower().rpartition("/")[2], asked.lower().rpartition("/")[2]
    rest = answered.removeprefix(requested)
    return bool(rest) and (rest == answered or not _EDITION.match(rest))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _rollouts(count: int) -> str:
    return "1 rollout" if count == 1 else f"{count:,} rollouts"
