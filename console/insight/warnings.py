"""Warnings about a rollout besides its verdict: a truncated last answer, an answer by another model."""

import re

from console.core.run import Manifest, ModelFacts, Summary
from console.core.weights import weights_warning
from console.insight.reasons import cut_words

_EDITION = re.compile(r"[-@:](?:\d[\w.-]*|latest)\Z")
"""Suffixes that providers add to the name of the same model: a date or a version."""


def rollout_warnings(cut: str, served: str, model: ModelFacts) -> list[tuple[str, str]]:
    """Return (short name, sentence) for each warning.

    Args:
        cut: what truncated the last reply, if anything.
        served: model name returned by the server; foreign text.
        model: the requested model.
    """
    warnings: list[tuple[str, str]] = []
    if cut:
        warnings.append(("cut off", f"its last answer was {cut_words(cut)}; the partial answer is judged"))
    if is_other(served, model.model_id):
        warnings.append(("answered by", f"{served} instead of {model.model_id}"))
    return warnings


def run_warnings(summary: Summary, manifest: Manifest) -> list[str]:
    """Return the warnings of a whole run, including the use of unofficial embedding weights."""
    model = manifest.model
    warnings = [weights_warning(manifest.weights)] if weights_warning(manifest.weights) else []
    warnings += [
        f"{_rollouts(count)} ended with an answer that was {cut_words(cut)}" for cut, count in summary.cut.items()
    ]
    others = {name: count for name, count in summary.served.items() if is_other(name, model.model_id)}
    warnings += [f"{_rollouts(count)} answered by {name} instead of {model.model_id}" for name, count in others.items()]
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
