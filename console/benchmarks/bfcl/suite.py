"""The suite of BFCL v4.

Methods import their own dependencies, so that listing categories does not load decoders, checkers and simulators.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry, entry_of
from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.fault import Fault
from console.core.outcome import Verdict
from console.suites.own_row import OwnRow, RecordedCase
from console.suites.suite import Category, Estimate, LineChecker, Option, Report, Result, Suite

if TYPE_CHECKING:
    from console.benchmarks.bfcl.data.wording import Wording
    from console.benchmarks.bfcl.models.handlers.handler import Handler
    from console.config.model import ModelConfig
    from console.suites.stage import Stage


class BfclSuite(Suite):
    """Suite of one dataset in the official layout: the pulled release, a bundled one, or the user's own."""

    grader_sources = (
        "console.benchmarks.bfcl.scoring",
        "console.benchmarks.bfcl.rules",
        "console.benchmarks.bfcl.models.decode",
        "console.benchmarks.bfcl.models.decoding",
        "console.benchmarks.bfcl.simulators",
        "console.suites.call_matching",
    )

    @property
    def options(self) -> tuple[Option, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The source of web-search answers; all other settings are fixed by the benchmark."""
        if not any("web_search" in name for name in self.dataset.categories):
            return ()
        from console.benchmarks.bfcl.conversation.web_search.choice import OPTION

        return (OPTION,)

    def categories(self) -> Sequence[Category]:
        """Return the available categories in official order, without counting memory prerequisites."""
        return [
            Category(
                name=name,
                cases=self._counts[name],
                modes=("prompt",) if name == names.FORMAT_SENSITIVITY else ("prompt", "fc"),
                group=names.group_of(name),
                scored=name != names.FORMAT_SENSITIVITY,
            )
            for name in self.dataset.categories
        ]

    def category_groups(self) -> Mapping[str, Sequence[str]]:
        """Return the official collections, such as `live` and `multi_turn`."""
        return names.COLLECTIONS

    def category_of(self, case_id: str) -> str:
        """Return the category in an id; memory prerequisites belong to the category that depends on them."""
        return names.category_of(case_id).removesuffix("_prereq")

    def cases(self, categories: Sequence[str], setting: Setting) -> Iterator[Case]:
        """Yield the entries in official order as cases that record the wording."""
        del setting
        for entry in self.dataset.in_official_order(categories or self.dataset.categories):
            yield entry.case(wording=self.dataset.wording_name)

    def settle(self, options: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
        """Return the options with absolute paths.

        Raises:
            UsageError: missing file of recorded answers.
        """
        del roles
        if not options:
            return options
        from console.benchmarks.bfcl.conversation.web_search.choice import with_absolute_path

        return with_absolute_path(options, self.dataset)

    def adapt(self, setting: Setting, model: "ModelConfig", mode: str | None) -> Setting:
        """Apply the registry row of a model, which determines prompts and decoding.

        Raises:
            UsageError: `bfcl_name` is unknown, its row is not supported here or by the model's provider, or conflicts
                with the chosen mode.
        """
        if model.bfcl_name is None:
            return setting
        from console.benchmarks.bfcl.models.decoding import with_row
        from console.benchmarks.bfcl.models.handlers.table import check_row

        adapted = with_row(setting, model, mode)
        check_row(adapted, model, self.dataset)
        return adapted

    def check_needs(self, cases: Sequence[Case], setting: Setting) -> None:
        """Check the requirements of vector memory and web search, if such cases are selected.

        Raises:
            UsageError: the first missing requirement, with a hint.
        """
        chosen = {case.category for case in cases}
        if _has_vector_memory(cases):
            from console.benchmarks.bfcl.conversation.memory.embedding import check_embedding

            check_embedding(self.dataset.embedding, self.dataset.folder, self.dataset.weights)
        if any("web_search" in name for name in chosen):
            from console.benchmarks.bfcl.conversation.web_search.choice import check_web

            check_web(setting.options, self.dataset)

    def embeds_here(self, cases: Sequence[Case]) -> Path | None:
        """Return the folder of the vector memory's weights if these cases need it."""
        if not _has_vector_memory(cases) or self.dataset.embedding != "minilm":
            return None
        from console.config.weights import find_weights

        return find_weights(self.dataset.weights)

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        from console.benchmarks.bfcl.conversation.estimate import estimate_single, estimate_turns
        from console.benchmarks.bfcl.conversation.single_turn import question_of

        entry = entry_of(case)
        messages, tools, _ = question_of(self._with_functions(entry), self.wording, self.handler(setting))
        if names.is_single_turn(entry.category):
            return estimate_single(messages, tools)
        return estimate_turns(messages, tools, len(entry.question))

    async def play(self, case: Case, stage: "Stage", setting: Setting) -> Any:
        from console.benchmarks.bfcl.conversation.play import play_entry

        return await play_entry(entry_of(case), stage, setting, self.handler(setting), self.wording, self.dataset)

    def handler(self, setting: Setting) -> "Handler":
        from console.benchmarks.bfcl.models.handlers.table import handler_of

        return handler_of(setting, self.dataset)

    def scores_slowly(self, case: Case) -> bool:
        """Return True for conversations with simulators, which are replayed for scoring."""
        return names.is_multi_turn(case.category)

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        from console.benchmarks.bfcl.scoring import score_conversation, score_output

        entry = entry_of(case)
        if names.is_multi_turn(entry.category):
            return score_conversation(entry, output, setting, self.dataset)
        return score_output(entry, output, setting)

    def contradiction(self, case: Case, setting: Setting) -> str:
        """Return the known defect of an official key, or the reason why the checker rejects the key's own calls."""
        from console.benchmarks.bfcl.conversation.scripted_answers import refused_key
        from console.benchmarks.bfcl.rules.known_bad import why_bad

        return why_bad(case.id) or refused_key(entry_of(case))

    def states(self, case_id: str, output: Any, setting: Setting) -> list[dict[str, Any]]:
        """Return the states of a conversation's simulators by turn, for the log of official result files.

        Empty for other categories, invalid outputs and failed simulators.
        """
        if not names.is_multi_turn(case_id) or not isinstance(output, list):
            return []
        from console.benchmarks.bfcl.models.decoding import family_of
        from console.benchmarks.bfcl.simulators.host import host_of
        from console.benchmarks.bfcl.simulators.judging import trace_states

        try:
            return trace_states(self.dataset.entry(case_id), output, family_of(setting), host_of(self.dataset))
        except (Fault, TypeError):
            return []

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Compare expected with actual, paired like the checker does."""
        from console.benchmarks.bfcl.models.decoding import profile_of

        comparison = self._comparison(entry_of(case), output, verdict, setting)
        profile = profile_of(setting)
        return msgspec.structs.replace(comparison, note=profile.note) if profile else comparison

    def _comparison(self, entry: Entry, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        if names.is_multi_turn(entry.category):
            from console.benchmarks.bfcl.simulators.compare import compare_conversation

            return compare_conversation(entry, output, verdict, setting)
        from console.benchmarks.bfcl.compare import compare_output

        return compare_output(entry, output, verdict, setting)

    def own_row(self, recorded: RecordedCase) -> OwnRow:
        """Return an entry as a row: native tools, and expected calls as checks."""
        from console.benchmarks.bfcl.own_row import own_row

        return own_row(recorded, self.dataset)

    def line_checker(self) -> AbstractContextManager[LineChecker]:
        """Judge saved outputs of this dataset's entries, whose ground truth is in the data."""
        from console.benchmarks.bfcl.conformance import BfclLineChecker

        return BfclLineChecker(self.entry.folder)

    def line_kinds(self) -> Mapping[str, Callable[[], AbstractContextManager[LineChecker]]]:
        """Return checkers of prompts for local models, and of requests to other APIs."""
        from console.benchmarks.bfcl.request_check import CompletionExchange, RequestChecker, ServiceExchange

        folder = self.entry.folder
        return {
            "templates": lambda: RequestChecker(folder, CompletionExchange()),
            "requests": lambda: RequestChecker(folder, ServiceExchange()),
        }

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        del setting
        from console.benchmarks.bfcl.rules.report import report

        return report(results, self._counts, comparable=self.entry.comparable)

    @cached_property
    def dataset(self) -> Dataset:
        """Reader of the suite's folder."""
        return Dataset(self.entry.folder, self.entry.data)

    @cached_property
    def wording(self) -> "Wording":
        """The texts of prompts.

        Raises:
            UsageError: unreadable texts of a pulled release.
        """
        from console.benchmarks.bfcl.data.official_wording import load_wording

        return load_wording(self.dataset)

    @cached_property
    def _counts(self) -> dict[str, int]:
        return {name: self.dataset.count(name) for name in self.dataset.categories}

    def _with_functions(self, entry: Entry) -> Entry:
        docs, _ = self.dataset.functions(entry)
        return entry.with_functions(docs)


def _has_vector_memory(cases: Sequence[Case]) -> bool:
    return any("memory_vector" in case.category for case in cases)
