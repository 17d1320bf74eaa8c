"""Warnings about a rollout in addition to its verdict: a truncated last answer, an answer by another model."""

import re
from collections.abc import Mapping
from typing import Protocol

from console.core.record import (
    ENCODED_TWICE,
    ONLY_THOUGHTS,
    REPEATED,
    SPECIAL_TOKENS,
    SYMPTOMS,
    THOUGHTS,
    UNREAD_TOOLS,
)
from console.core.run import Manifest, ModelFacts, Summary, reroll_words
from console.core.tally import Ended
from console.core.weights import weights_warning
from console.insight.reasons import cut_words

_EDITION = re.compile(r"[-@:](?:\d[\w.-]*|latest)\Z")
"""Suffixes that providers add to the name of the same model: a date or a version."""


_MEANINGS = {
    THOUGHTS: "the server has no reasoning parser, so the thoughts were graded as part of the answer",
    ONLY_THOUGHTS: "the server's reasoning parser took the answer for thoughts, so an empty answer was graded",
    SPECIAL_TOKENS: "the server's template or parser leaves tokens in the text or the arguments",
    ENCODED_TWICE: "the server sends the JSON of a call's arguments as a string",
    REPEATED: "the server or a gateway sent the arguments of a call more than once; they were read once",
    UNREAD_TOOLS: "the server counted fewer prompt tokens than the words of the question and the tools",
}
_FEWEST_OFFERED = 5
"""Minimum number of rollouts with tools but without calls to suspect the server although some passed."""
_FEWEST_WRITTEN = 5
_SMALLEST_SHARE = 0.2
"""Minimum number of failures with a call as text, and their share of all failures, to suspect a missing tool parser."""


class Symptomatic(Protocol):
    """Symptoms of a run's server: a `Summary`, or the fold of a run's records."""

    @property
    def written(self) -> Mapping[str, int]: ...
    @property
    def offered(self) -> int: ...
    @property
    def called(self) -> int: ...


def rollout_warnings(ended: Ended, model: ModelFacts) -> list[tuple[str, str]]:
    """Return (short name, sentence) for each warning; parts are untrusted text."""
    warnings: list[tuple[str, str]] = []
    if ended.cut:
        warnings.append(
            ("cut off", f"its last answer was {cut_words(ended.cut, model.params)}; the partial answer is judged")
        )
    if is_other(ended.model, model.model_id):
        warnings.append(("answered by", f"{ended.model} instead of {model.model_id}"))
    for symptom in ended.written.split("; ") if ended.written else ():
        if symptom in SYMPTOMS:
            warnings.append(("server", f"{symptom}: {_MEANINGS[symptom]}"))
        else:
            warnings.append(("as text", f"it wrote a call as text ({symptom}); the server may have no tool parser"))
    return warnings


def server_warnings(run: Symptomatic, passed: int, failed: int) -> list[str]:
    """Return the evidence that a run's server is misconfigured, which looks like a weak model."""
    counted = {name: count for name, count in run.written.items() if name in SYMPTOMS and name != UNREAD_TOOLS}
    warnings = [f"{_rollouts(count)} had {name}: {_MEANINGS[name]}" for name, count in counted.items()]
    warnings += filter(None, (_parser_warning(run.written, failed), _tools_warning(run, passed, failed)))
    return [f"{warning}; `eval-console doctor --try MODEL` checks it" for warning in warnings]


def _parser_warning(written: Mapping[str, int], failed: int) -> str:
    """Return the evidence that the server has no tool parser; empty if too few failures have a call as text."""
    forms = [name for name in written if name not in SYMPTOMS]
    count = sum(written[name] for name in forms)
    if count < max(_FEWEST_WRITTEN, _SMALLEST_SHARE * failed):
        return ""
    return (
        f"the server probably has no tool parser: {count:,} of {failed:,} failures have a call written as text "
        f"({', '.join(forms)})"
    )


def _tools_warning(run: Symptomatic, passed: int, failed: int) -> str:
    """Return the evidence that the server does not pass tools to the model; empty if any reply has a call."""
    if run.called or not failed or run.written.keys() - SYMPTOMS:
        return ""
    if unread := run.written.get(UNREAD_TOOLS, 0):
        return (
            f"the server does not pass the tools to the model: no reply has a call, and in {_rollouts(unread)} "
            f"{_MEANINGS[UNREAD_TOOLS]}"
        )
    if not run.offered or (passed and run.offered < _FEWEST_OFFERED):
        return ""
    return f"no reply has a call, although {_rollouts(run.offered)} offered tools: the server may leave them out"


def run_warnings(summary: Summary, manifest: Manifest) -> list[str]:
    """Return the warnings of a whole run, including the use of unofficial embedding weights."""
    from console.insight.servers import change_words  # lazy: only reports summarize a whole run

    model = manifest.model
    warnings = [weights_warning(manifest.weights)] if weights_warning(manifest.weights) else []
    warnings += [reroll_words(summary.rerolled)] if summary.rerolled else []
    warnings += [
        f"{_rollouts(count)} ended with an answer that was {cut_words(cut, model.params)}"
        for cut, count in summary.cut.items()
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
