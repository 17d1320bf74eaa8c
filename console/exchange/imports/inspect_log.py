"""Logs of inspect_ai, formats 1 and 2: `.eval` (a zip file of samples) and its JSON file equivalent.

The summaries of an `.eval` suffice for a list; a sample is read when it is opened. References between the parts of a
sample (`attachment://`, the message pool) are followed one level deep, so that cycles end.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import msgspec

from console.core.chat import Reply, Usage
from console.core.fault import UsageError
from console.core.json_text import decode_as, read_json
from console.core.media import media_name
from console.core.ready_type import ready_type
from console.exchange.imports.chat import (
    after_last_reply,
    calls_of_messages,
    chat_message,
    content_text,
    first_question,
    tool_call,
)
from console.exchange.imports.json_log import read_pieces
from console.exchange.imports.kept_log import keep_eval, keep_json
from console.exchange.imports.log import (
    Log,
    LogCall,
    LogFormat,
    LogHead,
    LogSample,
    LogScore,
    Problem,
    Table,
    first_table,
    listed,
    table,
    tables,
    text,
    without,
)
from console.exchange.imports.numbers import amount, count, moment, score_number, seconds
from console.exchange.imports.recipe import Recipe
from console.exchange.imports.zip_members import LARGEST_BYTES, BadMember, Member, ZipMembers
from console.insight.conversation import SIMULATED_USER

TOOL = "inspect_ai"
_OWN = f"{TOOL}/"
"""Prefix of the names of Inspect's own metrics."""
_VERSIONS = (1, 2)
_LISTS = {("samples",), ("reductions",)}
_ATTACHMENT = "attachment://"
_LARGEST_RESOLVED = 64 << 20
"""Maximum number of characters of attachments inserted into one sample."""
_MOST_MESSAGES = 20_000
"""Maximum number of messages read from one request."""
_LARGEST_REQUESTS = 1 << 30
"""Maximum characters of all requests of one sample, which refer to ranges of its messages and so may be far longer."""
_SCORING = ("scorers", "scorer")
_JUDGES = ("grader", "second_judge")
"""Roles of models that judge, in Inspect's words and in those of our exports."""
_STATUS = {"success": "completed", "started": "stopped", "cancelled": "stopped", "error": "halted"}
_FINISH = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}
_SAMPLES, _SUMMARIES, _HEADER, _START = "samples/", "summaries.json", "header.json", "_journal/start.json"
_SHELL = "/sample.json"
_SAMPLE_MEMBER = re.compile(r"_epoch_\d+(\.json|/sample\.json)\Z", re.ASCII)
"""End of the name of a sample's member; ids may contain slashes."""
_PART_OF_SUMMARIES = "_journal/summaries/"


class Summary(msgspec.Struct):
    """Summary of a sample in an `.eval`. All fields are untrusted and may have any type."""

    id: Any = ""
    epoch: Any = 1
    input: Any = ""
    target: Any = None
    scores: Any = None
    error: Any = None
    retries: Any = 0
    limit: Any = None
    model_usage: Any = None
    completed_at: Any = None
    total_time: Any = 0
    member: str = ""
    """Archive member with the sample; empty if there is none."""

    @property
    def is_in_parts(self) -> bool:
        """True if it is stored as several members, as large samples may be."""
        return self.member.endswith(_SHELL)

    @property
    def rollout(self) -> int:
        """Rollout number: the epoch, from 0."""
        return max(0, count(self.epoch) - 1)


class EvalLog:
    """An `.eval` file."""

    def __init__(self, path: Path) -> None:
        """Read the table of contents and the header.

        Raises:
            UsageError: it is not a zip file, not an inspect_ai log, or of an unknown version.
        """
        self._members = ZipMembers(path)
        self.problems: list[Problem] = []
        if self._members.is_cut_off:
            why = "has no table of contents: it is truncated or still being written; complete samples were read"
            self.problems.append(Problem(path.name, why))
        self.problems += [Problem(name, "occurs several times; the last one counts") for name in self._members.doubled]
        name = _HEADER if _HEADER in self._members.by_name else _START
        try:
            header = table(read_json(self._members.read(name)))
        except ValueError as error:
            raise UsageError(f"{name} {error}", where=str(path), hint="This is not an inspect_ai log.") from None
        self.head = _head(header, path)
        self._sample_ids = listed(table(table(header.get("eval")).get("dataset")).get("sample_ids"))

    def summaries(self) -> list[Summary]:
        """Return the summary of each sample, in dataset order."""
        names = {
            name: None
            for name in self._members.by_name
            if name.startswith(_SAMPLES) and ("/" not in name[len(_SAMPLES) :] or _SAMPLE_MEMBER.search(name))
        }
        summaries = self._read_summaries()
        for summary in summaries:
            stem = f"{_SAMPLES}{text(summary.id)}_epoch_{text(summary.epoch)}"
            summary.member = next((name for name in (f"{stem}.json", f"{stem}{_SHELL}") if name in names), "")
            names.pop(summary.member, None)
        summaries += [_named(name) for name in names]
        order = {text(name): place for place, name in enumerate(self._sample_ids)}
        last = len(order)
        return sorted(summaries, key=lambda summary: (order.get(text(summary.id), last), summary.rollout))

    def member(self, name: str) -> Member | None:
        """Return a member's location in the file, or None if there is no such member."""
        return self._members.by_name.get(name)

    def _read_summaries(self) -> list[Summary]:
        parts = [name for name in self._members.by_name if name.startswith(_PART_OF_SUMMARIES)]
        parts = (
            [_SUMMARIES] if _SUMMARIES in self._members.by_name else sorted(parts, key=lambda part: (len(part), part))
        )
        summaries: dict[tuple[str, int], Summary] = {}
        for part in parts:
            try:
                for summary in _decode_summaries(self._members.read(part)):
                    summaries[text(summary.id), summary.rollout] = summary
            except ValueError as error:
                self.problems.append(Problem(part, str(error)))
        return list(summaries.values())

    def sample(self, summary: Summary) -> LogSample:
        """Read one sample.

        Raises:
            ValueError: it cannot be read.
        """
        if not summary.member:
            raise BadMember("is missing: only its summary exists")
        record = table(read_json(self._members.read(summary.member)))
        if summary.is_in_parts:
            record = self._joined(record, summary.member.removesuffix(_SHELL))
        return sample_of(record)

    def _joined(self, shell: Table, folder: str) -> Table:
        """Combine the parts of a sample that is stored in parts.

        Raises:
            ValueError: a part cannot be read, or they are too large together.
        """
        parts = {name: self._part(f"{folder}/{name}/") for name in ("messages", "events", "attachments")}
        metadata, pool = f"{folder}/metadata.json", parts["messages"]
        return {
            **shell,
            "metadata": read_json(self._members.read(metadata)) if metadata in self._members.by_name else None,
            "messages": [
                parts["messages"][place] for place in _places(shell.get("message_refs"), len(parts["messages"]))
            ],
            "events": parts["events"],
            "events_data": {"messages": pool},
            "attachments": {str(place): attached for place, attached in enumerate(parts["attachments"])},
        }

    @cached_property
    def _by_folder(self) -> dict[str, list[str]]:
        """Names of the members by their folder, so that no sample requires searching the whole table of contents."""
        folders: dict[str, list[str]] = {}
        for name in self._members.by_name:
            folders.setdefault(name[: name.rfind("/") + 1], []).append(name)
        return folders

    def _part(self, folder: str) -> list[Any]:
        """Return the items of a folder's members in order; members are named by the index of their first item."""
        names = self._by_folder.get(folder, ())
        numbered = {int(stem): name for name in names if (stem := name[len(folder) : -len(".json")]).isdecimal()}
        if sum(self._members.by_name[name].size for name in numbered.values()) > LARGEST_BYTES:
            raise BadMember("is too large")
        return [item for number in sorted(numbered) for item in listed(read_json(self._members.read(numbered[number])))]

    def samples(self) -> Iterator[LogSample]:
        """Yield every sample; unreadable ones are built from their summary."""
        for summary in self.summaries():
            try:
                yield self.sample(summary)
            except ValueError as error:
                name = summary.member or f"{text(summary.id)} epoch {summary.rollout + 1}"
                self.problems.append(Problem(name, f"{error}; its summary is used instead"))
                yield brief_sample(summary)


class JsonLog:
    """An evaluation as a JSON file, read sample by sample."""

    def __init__(self, path: Path) -> None:
        """Read everything except the samples.

        Raises:
            UsageError: it is not an inspect_ai log, or of an unknown version.
        """
        self._path = path
        self.problems: list[Problem] = []
        header: Table = {}
        for names, piece in read_pieces(self._path, _LISTS, self.problems):
            if names[0] not in ("samples", "reductions") and piece is not None:
                header[names[0]] = read_json(piece)
        self.problems.clear()
        self.head = _head(header, path)

    def samples(self) -> Iterator[LogSample]:
        number = 0
        for names, piece in read_pieces(self._path, _LISTS, self.problems):
            if names != ("samples",):
                continue
            number += 1
            try:
                if piece is None:
                    raise ValueError("is too large")
                yield sample_of(table(read_json(piece)))
            except ValueError as error:
                self.problems.append(Problem(f"sample {number}", str(error)))


# The head -------------------------------------------------------------------------------------------------------------


def _head(header: Table, path: Path) -> LogHead:
    spec = table(header.get("eval"))
    version = header.get("version")
    if not spec or "model" not in spec:
        raise UsageError("is not an inspect_ai log: it has no evaluation", where=str(path))
    if version not in _VERSIONS:
        hint = f"Versions {' and '.join(map(str, _VERSIONS))} are supported."
        raise UsageError(f"is a log of version {text(version)}", where=str(path), hint=hint)
    results, config = table(header.get("results")), table(spec.get("config"))
    status = text(header.get("status"))
    error = text(table(header.get("error")).get("message"))
    dataset = table(spec.get("dataset"))
    used = ("eval", "results", "stats", "version", "status", "plan", "error")
    return LogHead(
        tool=TOOL,
        has_counts=True,
        version=text(table(spec.get("packages")).get(TOOL)),
        task=text(spec.get("task_display_name") or spec.get("task")) or "task",
        model=text(spec.get("model")) or "unknown",
        at=moment(spec.get("created")),
        params=table(spec.get("model_generate_config")) or table(table(header.get("plan")).get("config")),
        repeats=max(1, count(config.get("epochs"))),
        samples=_planned(results, dataset, config),
        ended=_STATUS.get(status, "completed"),
        message=error or ("" if status in ("success", "") else f"the log's status: {status}"),
        decisive=_decisive(results),
        reported=_reported(results),
        recipes=_recipes(results, config),
        simulated=bool(table(spec.get("metadata")).get("simulated")),
        rest={
            **without(spec, "model", "task", "task_display_name", "created", "dataset", "model_generate_config"),
            "dataset": without(dataset, "sample_ids"),
            **without(header, *used),
            "plan": table(header.get("plan")),
            "stats": table(header.get("stats")),
            "results": without(results, "total_samples"),
        },
    )


def _planned(results: Table, dataset: Table, config: Table) -> int | None:
    """Return the planned number of tries; None when unknown."""
    if "total_samples" in results:
        return count(results.get("total_samples"))
    samples = count(dataset.get("samples"))
    return samples * max(1, count(config.get("epochs"))) if samples else None


def _decisive(results: Table) -> str:
    headline = table(results.get("headline"))
    first = first_table(results.get("scores"))
    return text(headline.get("score")) or text(first.get("name"))


def _scorer_name(scorer: Table) -> str:
    """Return the display name for a scorer's totals, with the reducer unless it is the mean."""
    name = text(scorer.get("name"))
    return f"{name} ({reducer})" if (reducer := text(scorer.get("reducer"))) not in ("", "mean") else name


def _reported(results: Table) -> dict[str, dict[str, float]]:
    reported: dict[str, dict[str, float]] = {}
    for scorer in tables(results.get("scores")):
        values = {text(key): amount(table(item).get("value")) for key, item in table(scorer.get("metrics")).items()}
        reported[_scorer_name(scorer)] = {key: value for key, value in values.items() if value is not None}
    return reported


def _recipes(results: Table, config: Table) -> dict[str, dict[str, Recipe]]:
    """Return how each reported total is computed, by score and metric."""
    no_reducer = "" if config.get("epochs_reducer") == [] else "mean"
    recipes: dict[str, dict[str, Recipe]] = {}
    for scorer in tables(results.get("scores")):
        plain = Recipe(
            score=text(scorer.get("name")),
            scorer=text(scorer.get("scorer")),
            reducer=text(scorer.get("reducer")) or no_reducer,
        )
        recipes[_scorer_name(scorer)] = {
            text(key): _recipe(plain, table(item)) for key, item in table(scorer.get("metrics")).items()
        }
    return recipes


def _recipe(plain: Recipe, metric: Table) -> Recipe:
    """Return how the total of one metric is computed; functions with their own parameters are unknown."""
    params = table(metric.get("params"))
    if (group := text(metric.get("group"))) != "grouped":
        name = "" if group or without(params) else text(metric.get("name"))
        return msgspec.structs.replace(plain, metric=name.removeprefix(_OWN))
    inner = table(params.get("metric"))
    return msgspec.structs.replace(
        plain,
        metric="" if without(table(inner.get("params"))) else text(inner.get("name")).removeprefix(_OWN),
        group_key=text(params.get("group_key")),
        name=text(metric.get("name")),
        template=text(params.get("name_template")) or plain.template,
        all_label=text(params.get("all_label")) or plain.all_label,
        is_mean_of_groups=params.get("all") == "groups",
    )


# Samples --------------------------------------------------------------------------------------------------------------


def _epoch(record: Table) -> int:
    return max(0, count(record.get("epoch", 1)) - 1)


def _decode_summaries(data: bytes) -> list[Summary]:
    """Parse summaries from JSON.

    Raises:
        ValueError: it is not JSON, or not a list of objects.
    """
    try:
        return decode_as(data, list[Summary])
    except ValueError:  # NaN and the like, which strict JSON forbids
        return msgspec.convert(read_json(data), ready_type(list[Summary]))


def _named(member: str) -> Summary:
    """Parse the id and epoch from a member's name."""
    name = member.removeprefix(_SAMPLES).removesuffix(_SHELL).removesuffix(".json")
    sample, _, epoch = name.rpartition("_epoch_")
    number = int(epoch) if epoch.isascii() and epoch.isdigit() and len(epoch) < 10 else 1
    return Summary(id=sample or name, epoch=number, member=member)


def brief_sample(summary: Summary, data: Table | None = None) -> LogSample:
    """Build a sample from its summary; `data` is added to its case."""
    usage = _usage(summary.model_usage)
    scores = {name: _score(table(score)) for name, score in table(summary.scores).items()}
    return LogSample(
        id=text(summary.id),
        epoch=summary.rollout,
        title=first_question(summary.input),
        target=summary.target,
        data=data or {},
        answer=next((score.answer for score in scores.values() if score.answer), None),
        scores=scores,
        error=text(summary.error),
        earlier_errors=("",) * min(count(summary.retries), 100),
        limit=text(summary.limit),
        at=moment(summary.completed_at),
        seconds=seconds(summary.total_time),
        input_tokens=usage.input,
        output_tokens=usage.output,
        cost_usd=usage.cost_usd,
    )


_PLACED = (
    "id", "epoch", "input", "target", "messages", "output", "scores", "metadata", "events", "model_usage",
    "completed_at", "total_time", "attachments", "message_refs", "events_data", "error",
    "error_retries", "choices", "limit",
)  # fmt: skip
_PLACED_EVENTS = ("span_begin", "span_end", "sample_init")
_PLACED_OF_MODEL = ("input", "input_refs", "output", "tools", "config")


def _unplaced(event: Table) -> Table:
    """Return an event without the fields that the conversation shows."""
    return without(event, *_PLACED_OF_MODEL) if event.get("event") == "model" else event


def sample_of(record: Table) -> LogSample:
    """Convert a sample as inspect_ai records it.

    Raises:
        ValueError: it is not a sample.
    """
    if "id" not in record:
        raise ValueError("is not a sample")
    attachments = table(record.get("attachments"))
    attached = {name: value for name, value in record.items() if name != "attachments"}
    resolved = table(_Attachments(attachments).resolve(attached))
    events = tables(resolved.get("events"))
    usage, messages = (
        _usage(resolved.get("model_usage")),
        [chat_message(message) for message in tables(resolved.get("messages"))],
    )
    calls = tuple(_model_calls(events, tables(table(resolved.get("events_data")).get("messages"))))
    if not any(call.role == "model" for call in calls):
        calls = (*calls_of_messages(messages), *calls)
    other = [_unplaced(event) for event in events if event.get("event") not in _PLACED_EVENTS]
    limit, error = table(resolved.get("limit")), table(resolved.get("error"))
    return LogSample(
        id=text(resolved.get("id")),
        epoch=_epoch(resolved),
        title=first_question(resolved.get("input")),
        target=resolved.get("target"),
        data=without({"choices": resolved.get("choices"), "metadata": resolved.get("metadata")}),
        calls=calls,
        tail=tuple(after_last_reply(messages)),
        answer=_answer(resolved),
        scores=_scores(resolved),
        invalidated=_invalidation(resolved),
        error=text(error.get("message")),
        earlier_errors=tuple(text(item.get("message")) for item in tables(resolved.get("error_retries"))),
        limit=text(limit.get("type")),
        at=moment(resolved.get("completed_at")),
        seconds=seconds(resolved.get("total_time")),
        input_tokens=usage.input,
        output_tokens=usage.output,
        cost_usd=usage.cost_usd,
        rest={
            **without(resolved, *_PLACED),
            **without(
                {"limit": limit, "error": error, "events": other, "error_retries": resolved.get("error_retries")}
            ),
        },
    )


def _invalidation(sample: Table) -> str:
    """Return who invalidated a sample, and why; empty if it is valid."""
    if not (invalidation := table(sample.get("invalidation"))):
        return ""
    return f"invalidated by {text(invalidation.get('author')) or 'somebody'}: {text(invalidation.get('reason'))}"


class _Attachments:
    """Resolves the attachments of a sample, and replaces images by placeholders.

    Attachments are inserted without resolving references inside them, so cycles end; their total size is limited,
    so that a small log cannot expand into a large one.
    """

    def __init__(self, attached: Table) -> None:
        self._attached = attached
        self._left = _LARGEST_RESOLVED

    def resolve(self, value: Any) -> Any:
        """Return a JSON value with its references resolved."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.resolve(item) for item in cast("list[Any]", value)]
        if isinstance(value, dict):
            record = {name: self.resolve(item) for name, item in cast(Table, value).items()}
            kind = record.get("type")
            if kind in ("image", "audio", "video") and isinstance(record.get(kind), str):
                record[kind] = media_name(cast(str, kind), record[kind])
            return record
        return value

    def _text(self, value: str) -> str:
        attached = self._attached.get(value.removeprefix(_ATTACHMENT)) if value.startswith(_ATTACHMENT) else None
        if not isinstance(attached, str) or len(attached) > self._left:
            return value
        self._left -= len(attached)
        return attached


def _model_calls(events: list[Table], pool: list[Table]) -> Iterator[LogCall]:
    """Yield the model calls; those made while scoring or in a grader role belong to the judge.

    A model in the role of the user plays the user, as in our own runs.
    """
    judging: set[str] = set()
    shared = _SharedMessages(pool)
    for event in events:
        if event.get("event") == "span_begin":
            if event.get("type") in _SCORING or event.get("parent_id") in judging:
                judging.add(text(event.get("id")))
        elif event.get("event") == "model":
            is_judge = event.get("span_id") in judging or event.get("role") in _JUDGES
            is_user = event.get("role") == SIMULATED_USER
            yield _model_call(event, shared, "judge" if is_judge else SIMULATED_USER if is_user else "model")


def _model_call(event: Table, shared: "_SharedMessages", role: str) -> LogCall:
    output = table(event.get("output"))
    reply = _reply(output, seconds(output.get("time") or event.get("working_time")))
    if not tables(output.get("choices")) and (error := text(output.get("error") or event.get("error"))):
        reply = msgspec.structs.replace(reply, flags=(f"error: {error}",))
    tools = [
        {"type": "function", "function": {name: tool.get(name) for name in ("name", "description", "parameters")}}
        for tool in tables(event.get("tools"))
    ]
    return LogCall(
        messages=[chat_message(message) for message in tables(event.get("input"))]
        + shared.request(event.get("input_refs")),
        reply=reply,
        tools=tools,
        params=without(table(event.get("config"))),
        role=role,
        at=moment(event.get("completed") or event.get("timestamp")),
    )


class _SharedMessages:
    """Messages of a sample that its requests name by ranges; each is converted once."""

    def __init__(self, pool: list[Table]) -> None:
        self._messages = [chat_message(message) for message in pool]
        self._left = _LARGEST_REQUESTS

    def request(self, ranges: object) -> list[Table]:
        """Return the messages in ranges, fewer when all requests together become too long."""
        named: list[Table] = []
        for place in _places(ranges, len(self._messages)):
            self._left -= 100 + len(self._messages[place]["content"])
            if self._left < 0:
                break
            named.append(self._messages[place])
        return named


def _places(ranges: object, length: int) -> Iterator[int]:
    """Yield the indices in `[first, end)` ranges that exist in the pool, a few thousand at most."""
    left = _MOST_MESSAGES
    for span in listed(ranges):
        bounds = listed(span)
        if len(bounds) == 2:
            places = range(count(bounds[0]), min(count(bounds[1]), length))[:left]
            left -= len(places)
            yield from places


def _reply(output: Table, latency: float) -> Reply:
    choice = first_table(output.get("choices"))
    message = table(choice.get("message"))
    usage = table(output.get("usage"))
    content, reasoning = content_text(message.get("content"))
    calls = tuple(tool_call(call) for call in tables(message.get("tool_calls")))
    finish = text(choice.get("stop_reason"))
    return Reply(
        content=content,
        tool_calls=calls,
        reasoning=reasoning,
        finish=_FINISH.get(finish, "tool_calls" if calls else "stop"),
        usage=_tokens(usage) if usage else None,
        model=text(output.get("model")),
        latency_s=latency,
    )


def _tokens(usage: Table) -> Usage:
    return Usage(
        input=count(usage.get("input_tokens"))
        + count(usage.get("input_tokens_cache_read"))
        + count(usage.get("input_tokens_cache_write")),
        output=count(usage.get("output_tokens")),
        cached=count(usage.get("input_tokens_cache_read")),
        reasoning=count(usage.get("reasoning_tokens")),
        cost_usd=amount(usage.get("total_cost")),
    )


def _usage(by_model: object) -> Usage:
    """Add up the token usage of all models of a sample; the cost is None if that of any model is unknown."""
    parts = [_tokens(table(usage)) for usage in table(by_model).values()]
    if len(parts) == 1:
        return parts[0]
    costs = [part.cost_usd for part in parts]
    return Usage(
        input=sum(part.input for part in parts),
        output=sum(part.output for part in parts),
        cost_usd=sum(cost for cost in costs if cost is not None) if costs and None not in costs else None,
    )


def _scores(record: Table) -> dict[str, LogScore]:
    scores = {name: _score(table(score)) for name, score in table(record.get("scores")).items()}
    if not scores and (score := table(record.get("score"))):  # version 1 logs have one
        scores["score"] = _score(score)
    return scores


def _score(score: Table) -> LogScore:
    return LogScore(score.get("value"), text(score.get("answer")), text(score.get("explanation")))


def _answer(record: Table) -> Any:
    output = table(record.get("output"))
    if completion := text(output.get("completion")):
        return completion
    choice = table(first_table(output.get("choices")).get("message"))
    answers = (
        score.answer for score in _scores(record).values() if score.answer and score_number(score.value) is not None
    )
    return content_text(choice.get("content"))[0] or next(answers, None)


def _is_eval(path: Path, head: bytes) -> bool:
    return head.startswith(b"PK\x03\x04") and (path.suffix == ".eval" or b"_journal/" in head or b"samples/" in head)


def _is_json_log(path: Path, head: bytes) -> bool:
    start = head[:4096]
    return start.lstrip().startswith(b"{") and b'"version"' in start and b'"eval"' in start and b'"status"' in start


def _open_eval(path: Path) -> list[Log]:
    return [EvalLog(path)]


def _open_json(path: Path) -> list[Log]:
    return [JsonLog(path)]


EVAL = LogFormat("eval", "a log of inspect_ai, .eval", _is_eval, _open_eval, keep_eval)
JSON = LogFormat("inspect-json", "a log of inspect_ai as JSON", _is_json_log, _open_json, keep_json)
