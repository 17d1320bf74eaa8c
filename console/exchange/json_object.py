"""The one shape of all JSON that is written for other programs: `{"schema": 2, "kind": …, …}`.

`KINDS` lists every kind with its fields; docs/json.md is made of it. A field that is not listed cannot be written.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

SCHEMA = 2
"""Version of the shape; grows with every change that readers must know of. 1 had no kind, and lists without a name."""


class Kind(NamedTuple):
    """What one kind of object is."""

    written_by: str
    """The command lines that write it."""
    meaning: str
    fields: Mapping[str, str]
    """Meaning of each field beside `schema` and `kind`. Those that are not always there say so with `optional`."""
    is_stream: bool = False
    """Whether a command may write several of them, one a line."""


_SIMULATED = "whether the model was a simulated one"
KINDS: Mapping[str, Kind] = {
    "run": Kind(
        "show, run, resume, retry, branch, merge",
        "A run with its counts and the report of its suite. `run` writes one for each run that it plays.",
        {
            "run": "its name",
            "folder": "where it is kept",
            "summary": "state, counts, tokens, cost",
            "report": "metrics by the suite's own formula, with intervals; null when the suite is not here",
            "labels": "optional: what a model holds the causes of failures to be; opinions, no results",
        },
        is_stream=True,
    ),
    "started_run": Kind(
        "run --detach, run --queue",
        "A run that plays, or will play, in the background.",
        {"run": "its name", "folder": "where it is kept"},
        is_stream=True,
    ),
    "forecast": Kind(
        "run --dry-run",
        "What one run would ask and cost; nothing was asked.",
        {
            "model": "its name",
            "suite": "its name",
            "cases": "their number",
            "setup": "cases besides that are not graded: what graded ones build on",
            "rollouts": "conversations for each case",
            "calls": "requests to models, roles included",
            "input_tokens": "in all",
            "output_tokens": "in all",
            "cost_usd": "null when a price is unknown",
            "basis": "optional: what the estimate of a new suite rests on",
            "detectable": "optional: the smallest difference that the run could show",
            "protocols": "optional: calls, tokens and cost by each protocol of the suite",
        },
        is_stream=True,
    ),
    "preset": Kind("run --save-preset", "A preset that was saved.", {"name": "its name", "file": "where it was saved"}),
    "case": Kind(
        "show RUN#CASE",
        "One rollout of a case: the whole conversation, and expected beside actual.",
        {
            "run": "its name",
            "simulated": _SIMULATED,
            "key": "case, rollout and attempt",
            "case": "what was asked",
            "finished": "output, verdict, time, tokens, cost; null while it runs",
            "comparison": "expected beside actual; null where there is nothing to compare",
            "calls": "every request with messages, tools, parameters and reply",
            "label": "optional: what a model holds the cause of the failure to be",
        },
        is_stream=True,
    ),
    "verdict": Kind(
        "review",
        "One rollout that did not pass (with --all: any).",
        {
            "case": "its id",
            "rollout": "from 0",
            "attempt": "from 1",
            "category": "its name",
            "outcome": "passed, failed, broken, undecided, setup, interrupted",
            "verdict": "reason, messages, scores; null while it runs",
            "comparison": "expected beside actual; null where there is nothing to compare",
        },
        is_stream=True,
    ),
    "record": Kind(
        "watch",
        "One record of a run's journal as it is written.",
        {"record": "its type in `t`, its time in `at`, and what belongs to that type"},
        is_stream=True,
    ),
    "checked_line": Kind(
        "check --json",
        "The answer to one line of input. Without --json, `check` writes the bare answer, in the form of its input.",
        {"answer": "verdict fields of the suite, or `line` and `error`"},
        is_stream=True,
    ),
    "runs": Kind("runs", "All runs, the newest first.", {"runs": "summaries"}),
    "queue": Kind(
        "queue",
        "Runs that wait to be played, in order; of `queue cancel`, `up`, `down` and `go`: how it stands after that.",
        {"is_playing": "whether a process plays it", "queue": "place, run, model, suite, state and cases of each"},
    ),
    "models": Kind(
        "models", "The models of models.toml and the simulated ones.", {"models": "name, provider, price, key state"}
    ),
    "ping": Kind(
        "models --ping",
        "Whether the server of a model answers.",
        {
            "name": "of the model",
            "good": "whether it can be asked",
            "text": "what was found",
            "hint": "what would help",
            "seconds": "how long it took",
        },
    ),
    "suites": Kind("suites", "All suites.", {"suites": "name, cases, origin, format and folder of each"}),
    "suite": Kind(
        "suites SUITE",
        "One suite.",
        {
            "name": "its name",
            "title": "its title",
            "categories": "name, cases, modes and group of each",
            "modes": "name and meaning of each",
            "options": "name, kind, default and meaning of each",
        },
    ),
    "allowed_suite": Kind(
        "allow",
        "A suite whose code may run, as it is now.",
        {
            "suite": "its name",
            "is_allowed": "false after --revoke",
            "digest": "optional: of its files",
            "files": "optional: what the digest covers",
            "cases": "optional: how many it has",
        },
    ),
    "imports": Kind(
        "import",
        "What became of each file that was imported.",
        {"imported": "run, model, suite, counts, problems and totals of each", "failed": "file and reason of each"},
    ),
    "suite_check": Kind(
        "suites check SUITE",
        "Whether a suite can be read, run and graded, tried with simulated models.",
        {
            "suite": "its name",
            "cases": "their number",
            "played": "a case of each category with a right and a wrong answer, and what the suite's code printed",
            "run": "calls, tokens and cost of a whole run",
            "ok": "whether nothing is wrong",
        },
    ),
    "new_suite": Kind(
        "new",
        "A suite's folder that was written.",
        {"suite": "its name", "folder": "its path", "files": "their paths", "notes": "how a table was read"},
    ),
    "row_schema": Kind(
        "suites schema FORMAT",
        "The JSON Schema of one row of a format.",
        {"format": "its name", "row_schema": "the JSON Schema"},
    ),
    "failures": Kind(
        "failures",
        "Failures of a run in groups.",
        {"run": "its name", "groups": "label, count, cases and parts of each, and labels that a model gave"},
    ),
    "labels": Kind(
        "explain",
        "What a model holds the causes of failures to be: opinions, no results.",
        {
            "run": "its name",
            "model": "who labelled",
            "simulated": _SIMULATED,
            "failures": "how many were listed",
            "labelled": "how many were labelled now",
            "labelled_before": "how many had a label of this model for the same prompt",
            "without_label": "failures whose replies could not be read, or did not come",
            "stopped": "why not all were asked about; empty: they were",
            "cost_usd": "of the calls made now; null: unknown",
            "groups": "label, and for each case the label with sentence, model, digest of the prompt and cost",
        },
    ),
    "labels_forecast": Kind(
        "explain --dry-run",
        "What labelling would ask and cost; nothing was asked.",
        {
            "run": "its name",
            "model": "who would label",
            "simulated": _SIMULATED,
            "calls": "failures that would be asked about",
            "labelled_before": "how many have a label of this model for the same prompt",
            "without_label": "failures whose replies could not be read before",
            "input_tokens": "in all",
            "output_tokens": "in all",
            "cost_usd": "null when the price is unknown",
        },
    ),
    "labels_taken_back": Kind(
        "explain --undo",
        "How many labels of a model were taken back.",
        {"run": "its name", "model": "whose; empty: there are none", "taken_back": "their number"},
    ),
    "comparison": Kind(
        "compare A B, run --baseline",
        "Two runs side by side.",
        {
            "simulated": "whether a model of either was a simulated one",
            "a": "the first run",
            "b": "the second run",
            "compared_by": "passing, or the name of a score",
            "same_data": "whether both asked the same cases; null: unknown",
            "same_prompts": "whether both asked in the same words; null: unknown",
            "data": "cases that are the same, and that are not",
            "prompts": "the same of prompts",
            "only_a": "rollouts that only the first has",
            "only_b": "rollouts that only the second has",
            "paired": "how many rollouts were paired by case id, and by what is asked",
            "table": "lost, gained, difference with interval and p",
            "categories": "the same for each category",
            "reasons": "how often each reason occurs in either",
            "scores": "the difference of each score",
            "spent": "time, tokens and cost of either",
            "pairs": "every rollout that both have",
            "gate": "optional: the answer to --fail-if-worse",
        },
        is_stream=True,
    ),
    "grid": Kind(
        "compare A B C",
        "More than two runs side by side.",
        {"runs": "their names", "rows": "the outcomes of each case, in the order of the runs"},
    ),
    "trends": Kind(
        "trends", "Each model on each suite over its runs.", {"trends": "lines of runs of equal selections"}
    ),
    "leaderboard": Kind(
        "leaderboard", "All models ranked on each suite.", {"boards": "suite, columns and rows of each"}
    ),
    "annotation": Kind(
        "tag, dispute RUN#CASE",
        "What readers noted of one rollout.",
        {
            "run": "its name",
            "case": "its id",
            "rollout": "from 1",
            "tag": "optional: whose fault a failure is",
            "comment": "optional",
            "dispute": "optional: why the ground truth is wrong",
            "disputed_by": "optional",
            "label": "optional: the cause of a failure in the opinion of a model",
            "label_why": "optional: its sentence",
            "labelled_by": "optional: the model",
            "reviewed": "optional",
        },
    ),
    "disputes": Kind(
        "dispute RUN",
        "Cases of a run whose ground truth somebody disputes.",
        {"run": "its name", "disputed": "case, rollout, reason, who and when"},
    ),
    "export": Kind(
        "export",
        "What an export wrote; without a file to write to, the text itself.",
        {
            "run": "its name",
            "simulated": _SIMULATED,
            "format": "its name",
            "files": "what was written",
            "text": "optional: the export itself, where no file was named",
        },
    ),
    "run_document": Kind(
        "export --format json",
        "A run complete but for its conversations.",
        {
            "run": "its name",
            "simulated": _SIMULATED,
            "manifest": "the plan of the run",
            "summary": "state, counts, tokens, cost",
            "report": "metrics by the suite's own formula, with intervals",
            "judging": "optional: what the judges did, and how well they agree",
            "rollouts": "outcome, reason, output, time, tokens, cost and remarks of each",
        },
    ),
    "prompt": Kind(
        "branch --show-prompt", "The opening of a case, to be edited.", {"text": "in the form that --prompt reads"}
    ),
    "pull": Kind("pull", "Data that was brought here.", {"name": "its name", "folder": "where it is kept"}),
    "completion": Kind(
        "completion", "What a shell needs to complete.", {"shell": "its name", "text": "to be evaluated by it"}
    ),
    "findings": Kind(
        "doctor",
        "What was looked at.",
        {"findings": "area, name, state (good, warning, bad, absent), text and hint of each"},
    ),
    "trial": Kind(
        "doctor --try",
        "What a model answered to a request with tools and one without.",
        {"findings": "as of `findings`", "entry": "the entry of models.toml that works"},
    ),
    "bfcl_generation": Kind(
        "bfcl generate",
        "Result files that were written.",
        {"model": "its name", "run": "its name", "written": "number of results", "files": "their paths"},
        is_stream=True,
    ),
    "bfcl_evaluation": Kind(
        "bfcl evaluate",
        "Scores of result files.",
        {"scores": "accuracy and counts of each model and category", "overall": "the overall score of each model"},
    ),
    "bfcl_models": Kind("bfcl models", "The official registry.", {"models": "its rows"}),
    "bfcl_categories": Kind(
        "bfcl test-categories", "Categories by collection.", {"collections": "categories of each collection"}
    ),
    "bfcl_results": Kind("bfcl results", "Models of which there are results.", {"models": "name and time of each"}),
    "bfcl_scores": Kind("bfcl scores", "The summary table of the scores.", {"rows": "rank, name and sums of each"}),
    "bfcl_version": Kind(
        "bfcl version",
        "The official release that the rules are tested against.",
        {
            "bfcl": "the release",
            "eval_console": "version of this program",
            "data": "release of each suite that is here",
        },
    ),
    "error": Kind(
        "any verb",
        "Why a command ended early, beside the same words on stderr.",
        {
            "message": "what is wrong",
            "where": "option, file, line or key; may be empty",
            "hint": "what to do; may be empty",
            "exit_code": "as the process ends",
        },
    ),
}


def json_object(kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields in the shape of their kind.

    Raises:
        LookupError: the kind, or a field of it, is not listed in `KINDS`.
    """
    if unlisted := fields.keys() - KINDS[kind].fields.keys():
        raise LookupError(f"{kind} has no field {sorted(unlisted)}")
    return {"schema": SCHEMA, "kind": kind, **fields}
