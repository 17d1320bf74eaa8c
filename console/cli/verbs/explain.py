"""Label the failures of a run by cause with a model of models.toml, and group them. Never done automatically.

Labels are stored next to the run with model, prompt digest and cost. They are an opinion and change no result or score.
Labeled failures are not asked about again, so the command continues where it was interrupted.
"""

import argparse
import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from console.cli.exitcode import Exit
from console.cli.listed_failures import label_words, listed_failures, none_words
from console.cli.parser import Arguments
from console.config.paths import find_models_file
from console.core.annotation import NO_ANNOTATION
from console.core.fault import Fault, UsageError
from console.core.price import dollars
from console.exchange.json_kind import JsonKind
from console.insight.filter import read_filter
from console.insight.judging import judge_name
from console.insight.rollout import Rollout
from console.store.lock import RunLock, RunLocked
from console.store.notes import Notes, retract_labels
from console.store.runs import RunFolder

if TYPE_CHECKING:  # model code is imported when needed, which keeps `explain --help` fast
    from console.config.model import ModelConfig
    from console.engine.labelling import Answer, LabellingPlan, Question

LABELS = JsonKind(
    "labels",
    "explain",
    "A model's opinions on the causes of failures; not results.",
    {
        "run": "its name",
        "model": "model that labeled",
        "simulated": "true for a simulated model",
        "failures": "number of listed failures",
        "labelled": "number of new labels",
        "labelled_before": "number of failures that already had a label of this model for the same prompt",
        "without_label": "failures without a valid reply",
        "stopped": "reason for ending early; empty if complete",
        "cost_usd": "cost of the new calls; null if unknown",
        "groups": "label, and for each case the label with sentence, model, prompt digest and cost",
    },
)
LABELS_FORECAST = JsonKind(
    "labels_forecast",
    "explain --dry-run",
    "Calls and cost of labeling; no calls were made.",
    {
        "run": "its name",
        "model": "model that would label",
        "simulated": "true for a simulated model",
        "calls": "failures that would be labeled",
        "labelled_before": "number of failures that already have a label of this model for the same prompt",
        "without_label": "failures whose earlier replies were invalid",
        "input_tokens": "total",
        "output_tokens": "total",
        "cost_usd": "null if the price is unknown",
    },
)
LABELS_TAKEN_BACK = JsonKind(
    "labels_taken_back",
    "explain --undo",
    "Number of retracted labels of a model.",
    {"run": "its name", "model": "model that labeled; empty if none", "taken_back": "number of retracted labels"},
)


class ExplainArguments(Arguments):
    which: str
    model: str | None
    filter: str
    limit: int | None
    max_cost: float | None
    dry_run: bool
    undo: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", nargs="?", default="latest", help="name, part of a name, or latest")
    parser.add_argument("-m", "--model", metavar="NAME", help="model that labels (default: the run's judge)")
    parser.add_argument(
        "--filter", metavar="TERMS", default="", help="only matching failures, such as 'reason:unit label:none'"
    )
    parser.add_argument("-n", "--limit", type=int, metavar="N", help="only the first N failures")
    parser.add_argument("--max-cost", type=float, metavar="USD", help="stop before this cost is exceeded")
    parser.add_argument("--dry-run", action="store_true", help="only show the number of calls and the cost")
    parser.add_argument(
        "--undo", action="store_true", help="retract all of a model's labels (default: the last model that labeled)"
    )


@dataclass(slots=True)
class _Result:
    labelled: int = 0
    without: list["Answer"] = field(default_factory=list["Answer"])
    cost_usd: float | None = 0.0
    stopped: str = ""
    """Reason why labeling ended early; empty if it did not. May contain untrusted text."""
    is_at_cap: bool = False
    """True if `--max-cost` stopped it."""

    def add(self, answer: "Answer") -> None:
        if answer.label is None:
            self.without.append(answer)
        else:
            self.labelled += 1
        unknown = self.cost_usd is None or answer.cost_usd is None
        self.cost_usd = None if unknown else (self.cost_usd or 0.0) + (answer.cost_usd or 0.0)


def run(args: ExplainArguments) -> int:
    """Label each listed failure, then show the groups; the exit code is 3 if some have no label, 4 at the cap."""
    folder = args.find_run(args.which)
    folder.manifest()
    notes = Notes(folder.path)
    if args.undo:
        with _alone(folder):
            return _undo(args, folder, notes)
    if args.max_cost is not None and not args.max_cost > 0:
        raise UsageError(f"must be more than 0, not {args.max_cost}", where="--max-cost")
    if args.limit is not None and args.limit < 1:
        raise UsageError(f"must be at least 1, not {args.limit}", where="--limit")
    chosen = read_filter(args.filter)
    model = _model(args, folder)
    rollouts, matching = listed_failures(folder, chosen, notes.annotations())
    failures = matching[: args.limit]
    if not failures:
        args.output.info(none_words(folder, chosen, rollouts))
    from console.engine.labelling import plan_labels

    questions = questions_of(folder, failures, args.data)
    if args.dry_run:
        return _show_forecast(args, folder, plan_labels(questions, model, notes))
    with _alone(folder) as lock:
        plan = plan_labels(questions, model, notes)
        lock.announce(len(plan.open))
        if args.max_cost is not None and plan.cost_usd is None:
            hint = "Add its price to models.toml, or label fewer with --limit."
            raise UsageError(
                f"{model.name} has no price, so --max-cost cannot be enforced", where="--max-cost", hint=hint
            )
        _confirm(args, plan)
        result = asyncio.run(_ask(args, plan, notes)) if plan.open else _Result()
    _show(args, folder, plan, result, failures)
    if result.is_at_cap:
        return Exit.BUDGET
    return Exit.INCONCLUSIVE if result.without or result.stopped or plan.unreadable else Exit.OK


@contextmanager
def _alone(folder: RunFolder) -> Generator[RunLock]:
    """Lock a run, so that no other process pays for labeling the same failures."""
    try:
        lock = RunLock(folder.labels_lock_path)
    except RunLocked as locked:
        who = f" by process {locked.holder.pid} on {locked.holder.host}" if locked.holder is not None else ""
        hint = "Wait until it is done, or stop it; its labels are kept."
        raise UsageError(f"is already being labeled{who}", where=folder.name, hint=hint) from None
    with lock:
        yield lock


def _show_forecast(args: Arguments, folder: RunFolder, plan: "LabellingPlan") -> int:
    if args.json:
        args.output.data(
            LABELS_FORECAST,
            {
                "run": folder.name,
                "model": plan.model.name,
                "simulated": plan.model.simulated,
                "calls": len(plan.open),
                "labelled_before": plan.labelled,
                "without_label": [str(key) for key in plan.unreadable],
                "input_tokens": round(plan.input_tokens),
                "output_tokens": plan.output_tokens,
                "cost_usd": plan.cost_usd,
            },
        )
    else:
        args.output.text(_plan_words(plan))
    return Exit.OK


def _plan_words(plan: "LabellingPlan") -> str:
    return plan.text + (f"; {plan.labelled:,} already labeled" if plan.labelled else "")


def questions_of(folder: RunFolder, failures: list[Rollout], data: Path | None) -> "list[Question]":
    """Return the question about each failure."""
    from console.engine.labelling import Question
    from console.exchange.run_reader import RunReader
    from console.insight.failure_text import failure_text
    from console.suites.run_suite import open_run_suite

    reader = RunReader(folder)
    suite = open_run_suite(
        reader.manifest, data
    )  # without the suite there is no comparison; the conversation is enough
    questions: list[Question] = []
    for rollout in failures:
        conversation = reader.conversation(rollout.key)
        comparison = suite.compare(conversation.case, conversation.finished)
        questions.append(Question(rollout.key, failure_text(rollout, conversation, comparison)))
    return questions


def _model(args: ExplainArguments, folder: RunFolder) -> "ModelConfig":
    from console.config.models import load_models
    from console.engine.roles import pick_model

    manifest = folder.manifest()
    name = args.model or judge_name(manifest)
    if not name:
        raise UsageError("no model was given, and the run has no judge", where=folder.name, hint="Add --model NAME.")
    return pick_model(load_models(find_models_file(args.models), args.data), name)


def _confirm(args: Arguments, plan: "LabellingPlan") -> None:
    """Show the expected cost, and ask for confirmation if it is high."""
    args.output.info(_plan_words(plan))
    if plan.cost_warning and not args.yes:
        args.output.confirm(plan.cost_warning, hint="Add --yes, or label fewer with --limit.")


async def _ask(args: ExplainArguments, plan: "LabellingPlan", notes: Notes) -> _Result:
    from console.engine.budget import BudgetReached
    from console.engine.labelling import label_failures

    result, output = _Result(), args.output
    try:
        async for answer in label_failures(plan, notes, args.max_cost):
            result.add(answer)
            count = f"{result.labelled + len(result.without)}/{len(plan.open)}"
            if answer.label is None:
                output.info(f"{count} {answer.key}: {answer.problem}")
            else:
                output.info(f"{count} {answer.key}: {label_words(answer.label)}")
    except BudgetReached as reached:
        result.stopped, result.is_at_cap = str(reached), True
        output.warn(f"stopped: {reached}\n  Repeat the command with a higher --max-cost to continue.")
    except Fault as fault:
        result.stopped = fault.message
        output.warn(f"stopped: {fault.message}" + (f"\n  {fault.hint}" if fault.hint else ""))
    return result


def _show(args: Arguments, folder: RunFolder, plan: "LabellingPlan", result: _Result, failures: list[Rollout]) -> None:
    groups = _groups(folder, failures)
    without = [answer.key for answer in result.without] + list(plan.unreadable)
    if args.json:
        args.output.data(
            LABELS,
            {
                "run": folder.name,
                "model": plan.model.name,
                "simulated": plan.model.simulated,
                "failures": len(failures),
                "labelled": result.labelled,
                "labelled_before": plan.labelled,
                "without_label": [str(key) for key in without],
                "stopped": result.stopped,
                "cost_usd": result.cost_usd,
                "groups": groups,
            },
        )
        return
    for group in groups:
        args.output.text(f"{len(group['cases']):>5}  {group['label']}", "strong")
        for case, label in group["cases"].items():
            args.output.text(f"         {case}  {label['why']}", "faint")
    for key in plan.unreadable:
        args.output.info(f"{key}: earlier replies contained no valid label; --undo allows another attempt")
    cost = "free" if plan.model.simulated else "cost unknown" if result.cost_usd is None else dollars(result.cost_usd)
    by = f"{plan.model.name}{', simulated' if plan.model.simulated else ''}"
    args.output.info(f"{result.labelled} labeled by {by}, {len(without)} without a label, {cost}")


def _groups(folder: RunFolder, failures: list[Rollout]) -> list[dict[str, Any]]:
    """Return the failures by label, largest group first, each case with its label."""
    annotations = Notes(folder.path).annotations()
    groups: dict[str, dict[str, Any]] = {}
    for rollout in failures:
        label = annotations.get(rollout.slot, NO_ANNOTATION).label
        if label is not None:
            name = f"{label.name} (simulated)" if label.simulated else label.name
            groups.setdefault(name, {})[str(rollout.key)] = msgspec.to_builtins(label)
    return [{"label": name, "cases": groups[name]} for name in sorted(groups, key=lambda name: -len(groups[name]))]


def _undo(args: ExplainArguments, folder: RunFolder, notes: Notes) -> int:
    if args.filter or args.limit is not None:
        raise UsageError("--undo retracts all of a model's labels", where="--undo", hint="Omit --filter and --limit.")
    model, count = retract_labels(notes, args.model or "")
    if args.json:
        args.output.data(LABELS_TAKEN_BACK, {"run": folder.name, "model": model, "taken_back": count})
    elif count:
        args.output.text(f"{count} labels of {model} retracted")
    else:
        args.output.info(f"{folder.name} has no labels" + (f" of {args.model}" if args.model else ""))
    return Exit.OK
