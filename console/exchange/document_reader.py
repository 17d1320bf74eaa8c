"""Reading a run into a `RunDocument`, for exports and the site."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from console.core.annotation import NO_ANNOTATION
from console.core.outcome import Outcome
from console.exchange.document import AnnotationFields, Item, RunDocument, annotation_fields
from console.exchange.imports.in_place import log_in_place
from console.exchange.run_reader import RunReader
from console.exchange.score_columns import columns_of
from console.insight.judging import judging_of
from console.insight.rollout import Rollout
from console.store.runs import RunFolder
from console.suites.run_suite import RunSuite, open_run_suite
from console.suites.suite import Result


def read_document(
    folder: RunFolder, data_path: Path | None, *, with_conversations: bool = False, with_failing: bool = False
) -> tuple[RunDocument, str]:
    """Read a run for export.

    Args:
        folder: the run.
        data_path: folder of suites, if one was named.
        with_conversations: whether to include all conversations, and comparisons of passed cases.
        with_failing: whether to include conversations of rollouts that did not pass or were annotated.

    Returns:
        The run, and why its suite cannot be opened (empty if it can); without it, report and comparisons are
            missing.

    Raises:
        UsageError: the folder is not a run.
    """
    return document_of(RunReader(folder), data_path, with_conversations=with_conversations, with_failing=with_failing)


def document_of(
    reader: RunReader,
    data_path: Path | None,
    *,
    with_conversations: bool = False,
    with_failing: bool = False,
    visit: Callable[[Item], None] | None = None,
) -> tuple[RunDocument, str]:
    """Like `read_document`, for a run that has been read.

    Args:
        reader: the run.
        data_path: see `read_document`.
        with_conversations: see `read_document`.
        with_failing: see `read_document`.
        visit: called with each rollout in run order and its conversation, which is then dropped, as ten
            thousand may not fit into memory.

    Returns:
        See `read_document`.
    """
    suite = open_run_suite(reader.manifest, data_path)
    annotations = reader.annotations()
    items: list[Item] = []
    for rollout in reader.ordered:
        keeps = with_conversations or (with_failing and (rollout.is_failure or rollout.slot in annotations))
        fields = annotation_fields(annotations.get(rollout.slot, NO_ANNOTATION))
        item = _item(reader, suite, rollout, fields, with_passed=with_conversations or visit is not None)
        if visit is not None:
            visit(item)
        if not keeps:
            item = replace(item, conversation=None, comparison=item.comparison if rollout.is_failure else None)
        items.append(item)
    summary = reader.folder.summary()
    report = suite.report(_results(items), summary.look, by_look=summary.is_shown_by_look)
    judging = judging_of(reader.manifest, reader.side.rollouts.values(), annotations)
    kept_log = log_in_place(reader.manifest) or reader.folder.kept_log_path
    document = RunDocument(
        reader.manifest,
        summary,
        report,
        items,
        judging,
        columns=columns_of(reader, data_path),
        kept_log=kept_log if kept_log.is_file() else None,
    )
    return document, suite.why


def _item(
    reader: RunReader, suite: RunSuite, rollout: Rollout, annotations: AnnotationFields, *, with_passed: bool
) -> Item:
    conversation = reader.conversation(rollout.key)
    comparison = None
    if rollout.outcome is Outcome.FAILED or (with_passed and rollout.outcome is Outcome.PASSED):
        comparison = suite.compare(conversation.case, conversation.finished)
    return Item(
        rollout=rollout,
        case=conversation.case,
        finished=conversation.finished,
        comparison=comparison,
        conversation=conversation,
        annotations=annotations,
    )


def _results(items: list[Item]) -> list[Result]:
    return [
        Result(
            item.rollout.key.case,
            item.rollout.category,
            item.rollout.key.rollout,
            item.finished.verdict,
            item.rollout.cluster,
            item.rollout.graded,
        )
        for item in items
        if item.finished is not None
    ]
