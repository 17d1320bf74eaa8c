"""Reading whole runs for exports and comparisons: one pass over the journal; conversations are built on demand."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.case import Key, Slot
from console.core.outcome import Outcome
from console.core.run import Manifest
from console.exchange.document import AnnotationFields, Item, RunDocument, annotation_fields
from console.exchange.imports.in_place import log_in_place, whole_records
from console.insight.comparison_side import ComparisonSide
from console.insight.conversation import Conversation
from console.insight.judging import judging_of
from console.insight.rollout import Rollout
from console.store.journal_file import journal_status
from console.store.journal_index import JournalIndex
from console.store.notes import Notes
from console.store.runs import RunFolder
from console.suites.run_suite import RunSuite, open_run_suite
from console.suites.suite import Result


class RunReader:
    """A run's journal, read to its present end; builds any of its conversations."""

    def __init__(self, folder: RunFolder) -> None:
        """Read the journal once.

        Raises:
            UsageError: the folder is not a run.
        """
        self.folder = folder
        self.side = ComparisonSide(folder.manifest())
        self._index = JournalIndex(folder.journal_path)
        self._seen = 0
        self.follow()

    @property
    def is_behind(self) -> bool:
        """True if the journal has grown since it was read."""
        return self._size() != self._seen

    def _size(self) -> int:
        try:
            return journal_status(self.folder.journal_path).size
        except OSError:
            return 0

    def follow(self) -> None:
        """Read what was written since the last call."""
        self._seen = self._size()
        for record in self._index.iter_all():
            self.side.apply(record)

    @property
    def manifest(self) -> Manifest:
        return self.side.manifest

    @property
    def ordered(self) -> list[Rollout]:
        """Latest attempt at each rollout, in order of first start."""
        return sorted(self.side.rollouts.values(), key=lambda rollout: rollout.order)

    @property
    def damages(self) -> int:
        """Number of unreadable journal lines."""
        return len(self._index.damages)

    def conversation(self, key: Key) -> Conversation:
        """Return an attempt's full conversation."""
        conversation = Conversation(key)
        for record in whole_records(self.manifest, self._index.read(key)):
            conversation.apply(record)
        return conversation

    def annotations(self) -> Mapping[Slot, Annotation]:
        """Readers' annotations by rollout."""
        return Notes(self.folder.path).annotations()


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
        visit: called with each rollout in run order, with its conversation, which is then not kept: ten
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
