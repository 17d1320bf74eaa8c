"""Search the conversations of all runs: prompts, answers, calls, results, notes and verdicts.

A conversation matches if it contains all words; case and accents are ignored. "several words" (in quotes of their own,
such as '"very sorry"') must follow each other, word* matches any word with that beginning, and !word excludes
conversations that contain it. Terms of the filter language (is:failed cat:live reason:unit time>30s, see `failures`)
narrow the search, as do model:NAME, suite:NAME and run:NAME.

The search index is made in the runs folder when it is first needed, and may be deleted at any time.
"""

import argparse
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from console.cli.exitcode import Exit
from console.cli.output import Output, terminal_width
from console.cli.parser import Arguments
from console.cli.search_index import IndexHeld, use_search
from console.core.fault import UsageError
from console.exchange.json_kind import JsonKind
from console.exchange.search.hits import FEW_HITS, Coverage, Hit, RunHits, Search
from console.insight.conversation import speaker_of
from console.insight.number_format import moment, plural
from console.insight.rollout import outcome_word
from console.insight.search_query import Excerpt, SearchQuery, excerpt, marks_in, passage_text, read_query

SEARCH = JsonKind(
    "search",
    "search",
    "Conversations of all runs that match a query.",
    {
        "query": "the query as given",
        "runs": "run, model, suite, time, number of matches, and the first hits: case, rollout, attempt, outcome, and"
        " the passage with the positions of its matches",
    },
)
_PASSAGE_INDENT = 4


class SearchArguments(Arguments):
    words: list[str]
    filter: str
    limit: int


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", metavar="WORDS", nargs="+", help='words, "phrases", prefix*, !excluded, filter terms')
    parser.add_argument("--filter", metavar="TERMS", default="", help="only matching rollouts, such as 'is:failed'")
    parser.add_argument(
        "-n", "--limit", type=int, metavar="N", default=FEW_HITS, help=f"hits shown of each run (default {FEW_HITS})"
    )


def run(args: SearchArguments) -> int:
    """Show the hits by run, newest first."""
    query = read_query(" ".join(args.words), args.filter)
    if not query.terms:
        raise UsageError("there is no word to search for", hint="Name one that is not excluded: search refund -n 5.")

    def find(search: Search) -> tuple[list[RunHits], Coverage]:
        return list(_whole(search.run(query, max(args.limit, 0)))), search.coverage

    try:
        runs, coverage = use_search(args.runs_root, args.output, find)
    except IndexHeld as held:
        return args.output.error(str(held), Exit.LOCKED)
    if args.json:
        args.output.data(SEARCH, {"query": query.text, "runs": [_as_json(run, query) for run in runs]})
    elif not sum(_show(args.output, run, query) for run in runs):
        among = f"{plural(coverage.conversations, 'conversation')} in {plural(coverage.runs, 'run')}"
        args.output.info(f"none of {among} matches; word* also finds longer words")
    return Exit.OK


def _whole(parts: Iterable[RunHits]) -> Iterator[RunHits]:
    """Yield each run once, with all its hits."""
    for _, growing in itertools.groupby(parts, lambda run: run.folder.name):
        yield list(growing)[-1]


def _show(output: Output, run: RunHits, query: SearchQuery) -> int:
    facts = run.facts
    head = f"{run.folder.name}  {facts.model} on {facts.suite}, {moment(facts.at)}"
    output.parts([(head, "strong"), (f"  {plural(run.count, 'hit')}", "")])
    for hit in run.hits:
        output.text(f"  {outcome_word(hit.rollout.outcome):<11} {hit.key}")
        output.parts([(" " * _PASSAGE_INDENT, ""), *_passage_parts(hit, query)])
    if run.count > len(run.hits):
        output.text(f"  … {run.count - len(run.hits)} more (run:{run.folder.name} -n {run.count})", "faint")
    return run.count


def _passage_parts(hit: Hit, query: SearchQuery) -> Iterator[tuple[str, str]]:
    if hit.passage is None:
        yield "its journal can no longer be read", "faint"
        return
    label = f"{speaker_of(hit.passage)}: "
    yield label, "faint"
    yield from _styled_parts(
        excerpt(passage_text(hit.passage), query.terms, terminal_width() - len(label) - 8), "warning"
    )


def _styled_parts(shown: Excerpt, style: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of an excerpt with their styles; `style` is that of matches."""
    place = 0
    for start, end in shown.marks:
        yield shown.text[place:start], ""
        yield shown.text[start:end], style
        place = end
    yield shown.text[place:], ""


def _as_json(run: RunHits, query: SearchQuery) -> dict[str, Any]:
    return {
        "run": run.folder.name,
        "model": run.facts.model,
        "suite": run.facts.suite,
        "at": run.facts.at,
        "count": run.count,
        "hits": [_hit_as_json(hit, query) for hit in run.hits],
    }


def _hit_as_json(hit: Hit, query: SearchQuery) -> dict[str, Any]:
    passage = hit.passage
    shown = None
    if passage is not None:
        text = passage_text(passage)
        marks = marks_in(text, query.terms)
        shown = {"kind": passage.kind.value, "turn": passage.turn, "step": passage.step, "text": text, "marks": marks}
    return {
        "case": hit.key.case,
        "rollout": hit.key.rollout,
        "attempt": hit.key.attempt,
        "outcome": outcome_word(hit.rollout.outcome),
        "passage": shown,
    }
