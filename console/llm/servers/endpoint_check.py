"""Asks an endpoint a dozen short questions with known answers, to tell a server's faults from a model's.

A missing tool parser, a wrong chat template or a cut context looks like a weak model in a score. Only a server's
behavior is called wrong; behavior that may be the model's choice is reported as different.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

import msgspec

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall
from console.core.fault import Fault, FaultKind
from console.core.record import ENCODED_TWICE, ONLY_THOUGHTS, REPEATED, SPECIAL_TOKENS, THOUGHTS
from console.core.symptoms import fewest_tokens, is_encoded_twice, symptoms_in, written_call
from console.llm.endpoint import Endpoint, Watch
from console.llm.providers import open_endpoint

REQUESTS = 18
"""Maximum number of requests in a check."""
_SHORT, _WHOLE = 200, 1_500
"""Token limit of an answer, and of one that repeats the long arguments: some models never stop by themselves."""
_PARSER = (
    "Configure the server's tool parser: vLLM --enable-auto-tool-choice --tool-call-parser NAME, "
    "SGLang --tool-call-parser NAME, llama.cpp --jinja."
)
_TEMPLATE = "Give the server the chat template of the model's authors."
_REASONING_PARSER = (
    "Configure the server's reasoning parser: vLLM and SGLang --reasoning-parser NAME, "
    "llama.cpp --reasoning-format auto."
)
_REMEDIES = {
    THOUGHTS: f"Thoughts are graded as part of the answer. {_REASONING_PARSER}",
    ONLY_THOUGHTS: f"Empty answers are graded. {_REASONING_PARSER}",
    SPECIAL_TOKENS: f"Tokens are graded as part of answers and arguments. {_PARSER}",
    ENCODED_TWICE: "No call can be graded. Update the server or the gateway in front of it.",
    REPEATED: "They are read once if they are equal, else the call is broken. Update the server or the gateway.",
}
"""Effects of symptoms and their remedies."""
_LONG = "".join(f"line {number:04d} of the ledger; " for number in range(80))
_VALUES: dict[str, Any] = {
    "place": {"city": "Zürich", "codes": [7, 0, -12]},
    "unit": "metric",
    "days": 3,
    "note": "naïve — 東京 🙂",
    "until": None,
    "text": _LONG,
}
_PLENTY = "The year was quiet and the harvest fair. " * 750
"""Length of a long prompt: about 30,000 characters."""
_ENTRY = "The entry was checked twice and is in order. " * 45
"""Length of a long tool result: about 2,000 characters, far more tokens than the rest of the question."""
_MOST_CHARACTERS = 10
"""Maximum number of characters in a token of English."""
_REST_OF_TOKEN = 3
"""Characters that may follow a stop sequence in the same token."""

_SPELLINGS: Mapping[str, Mapping[str, str]] = {
    "responses": {"max_tokens": "max_output_tokens", "stop": "", "seed": ""},
    "anthropic": {"stop": "stop_sequences", "seed": ""},
    "gemini": {"stop": "stopSequences"},
    "bedrock": {"stop": "stopSequences", "seed": ""},
    "cohere": {"stop": "stop_sequences"},
}
"""Parameter names by provider, where they differ from chat completions; empty if the API has none."""
_UNCOMPARED = ("gemini", "bedrock", "cohere", "litellm")
"""Providers whose replies are always streamed, or never."""


class Mark(StrEnum):
    """Verdict on one question of the check."""

    OK = "ok"
    DIFFERS = "differs"
    REFUSES = "refuses"
    WRONG = "wrong"
    UNCHECKED = "not checked"
    """No answer arrived, for a reason that has nothing to do with the question."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Finding of one question."""

    name: str
    mark: Mark
    text: str
    effect: str = ""
    """Effect of the finding on scores, and a remedy."""


def _tool(name: str, text: str, properties: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}


_LOOK_UP = _tool("look_up", "Looks a number up.", {"number": {"type": "integer"}})
_FORECAST = _tool(
    "store_note",
    "Stores a note.",
    {
        "place": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "codes": {"type": "array", "items": {"type": "integer"}}},
        },
        "unit": {"type": "string", "enum": ["metric", "imperial"]},
        "days": {"type": "integer"},
        "note": {"type": "string"},
        "until": {"type": ["string", "null"]},
        "text": {"type": "string"},
    },
)
_NAMES = ("look_up", "store_note")
_FREE = "Look up number 7 with the tool."


async def check_endpoint(model: ModelConfig) -> AsyncIterator[Answered]:
    """Ask all questions, one after another, and yield their findings."""
    limits = msgspec.structs.replace(model.limits, max_tries=1, max_wait_s=0.0)
    model = msgspec.structs.replace(model, limits=limits)
    endpoint = open_endpoint(model)
    try:
        check = _Check(model, endpoint)
        for question in (
            check.free_call,
            check.forced_call,
            check.no_call,
            check.arguments,
            check.parallel_calls,
            check.results,
            check.streamed,
            check.limits,
            check.stop_sequence,
            check.roles,
            check.long_prompt,
            check.repeats,
            check.logprobs,
            check.marks,
        ):
            yield await question()
    finally:
        await endpoint.aclose()


class _Check:
    """The questions to one endpoint."""

    def __init__(self, model: ModelConfig, endpoint: Endpoint) -> None:
        self._model, self._endpoint = model, endpoint
        self._free: Reply | None = None
        self._symptoms: dict[str, str] = {}
        """Symptoms in the answers so far, with the beginning of the first such answer."""
        self._thinks = False
        """True once thoughts alone have filled an answer; from then on the model's own limit applies."""

    async def _ask(
        self,
        messages: Sequence[dict[str, Any]] | str,
        tools: Sequence[dict[str, Any]] = (),
        *,
        endpoint: Endpoint | None = None,
        most: int = _SHORT,
        **params: Any,
    ) -> Reply:
        """Ask for an answer of at most `most` tokens, and again without that limit if it held only thoughts."""
        listed = [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)
        is_bounded = not (self._thinks or "max_tokens" in params)
        sent = {"temperature": 0.0} | ({"max_tokens": most} if is_bounded else {}) | params
        spellings = _SPELLINGS.get(self._model.provider, {})
        spelled = {spellings.get(name, name): value for name, value in sent.items()}
        sent = {name: value for name, value in spelled.items() if name and name not in self._model.omit}
        request = ChatRequest(cast("list[Message]", listed), list(tools), sent)
        reply = await (endpoint or self._endpoint).ask(request, Watch())
        if is_bounded and reply.finish == "length" and _is_thinking(reply):
            self._thinks = True
            return await self._ask(messages, tools, endpoint=endpoint, **params)
        for symptom in symptoms_in(request.messages, request.tools, reply):
            self._symptoms.setdefault(symptom, _beginning(reply))
        return reply

    async def free_call(self) -> Answered:
        name = "a call"
        try:
            reply = self._free = await self._ask(_FREE, [_LOOK_UP])
        except Fault as fault:
            return _refused(name, fault, 'Suites that pass tools natively cannot be played; use mode = "prompt".')
        if reply.tool_calls:
            return _judge_call(name, reply.tool_calls[0])
        if not written_call(reply.content or "", _NAMES) and (dropped := await self._dropped_tools(reply)):
            effect = (
                f'Native function calling scores nothing. {_TEMPLATE} Without one that has tools, use mode = "prompt".'
            )
            return Answered(name, Mark.WRONG, dropped, effect)
        return _without_call(name, reply)

    async def _dropped_tools(self, reply: Reply) -> str:
        """Return the evidence that the tools of a request did not reach the model; empty if there is none."""
        try:
            without = await self._ask(_FREE)
        except Fault:
            return ""
        counts = [each.usage.input if each.usage is not None else 0 for each in (reply, without)]
        if not all(counts) or counts[0] - counts[1] >= fewest_tokens([], [_LOOK_UP]):
            return ""
        return f"the server drops the tools: the prompt has {counts[0]:,} tokens with them and {counts[1]:,} without"

    async def forced_call(self) -> Answered:
        name, forcing = "a forced call", _forcing(self._model.provider, "look_up")
        if forcing is None:
            return Answered(name, Mark.OK, "not asked: this API cannot force one")
        try:
            reply = await self._ask("Look up number 7.", [_LOOK_UP], **forcing)
        except Fault as fault:
            return _refused(name, fault)
        return _judge_call(name, reply.tool_calls[0]) if reply.tool_calls else _without_call(name, reply)

    async def no_call(self) -> Answered:
        name = "no fitting tool"
        try:
            reply = await self._ask("Say hello. No number needs to be looked up.", [_LOOK_UP])
        except Fault as fault:
            return _refused(name, fault)
        if reply.tool_calls:
            return Answered(name, Mark.DIFFERS, "calls a tool although none fits")
        return Answered(name, Mark.OK, "answers without a call")

    async def arguments(self) -> Answered:
        name = "arguments"
        wanted = json.dumps(_VALUES, ensure_ascii=False)
        try:
            reply = await self._ask(f"Call store_note with exactly these arguments: {wanted}", [_FORECAST], most=_WHOLE)
        except Fault as fault:
            return _refused(name, fault)
        if not reply.tool_calls:
            return _without_call(name, reply)
        text = reply.tool_calls[0].arguments
        try:
            given = json.loads(text)
        except ValueError:
            effect = "Calls with long or odd arguments fail, whatever the model meant."
            return Answered(name, Mark.WRONG, f"the arguments are not JSON: …{text[-40:]}", effect)
        return _judge_arguments(name, given)

    async def parallel_calls(self) -> Answered:
        name = "two calls"
        try:
            reply = await self._ask("Look up the numbers 7 and 8, with two calls at once.", [_LOOK_UP])
        except Fault as fault:
            return _refused(name, fault)
        if not reply.tool_calls:
            return _without_call(name, reply)
        ids = [call.id for call in reply.tool_calls]
        if len(set(ids)) < len(ids) or not all(ids):
            effect = "Results cannot be told apart: parallel cases fail."
            return Answered(name, Mark.WRONG, f"the calls share the id {ids[0]!r}", effect)
        if len(ids) != 2:
            return Answered(name, Mark.DIFFERS, f"{len(ids)} instead of two", "Parallel cases may fail.")
        return Answered(name, Mark.OK, "both arrive, with ids of their own")

    async def results(self) -> Answered:
        name = "results of two calls"
        calls = [ToolCall(f"call_{number}", "look_up", json.dumps({"number": number})) for number in (7, 8)]
        messages = [
            {"role": "user", "content": "Look up the numbers 7 and 8 and tell me both results."},
            {"role": "assistant", "content": None, "tool_calls": [call.for_message() for call in calls]},
            {"role": "tool", "tool_call_id": "call_7", "content": f"4711. {_ENTRY}"},
            {"role": "tool", "tool_call_id": "call_8", "content": f"8153. {_ENTRY}"},
        ]
        try:
            reply = await self._ask(messages, [_LOOK_UP])
        except Fault as fault:
            return _refused(name, fault, f"Multi-turn cases break. {_TEMPLATE}")
        seen = [result for result in ("4711", "8153") if result in (reply.content or "").replace(",", "")]
        if len(seen) == 2:
            return Answered(name, Mark.OK, "both reach the model")
        counted = reply.usage.input if reply.usage is not None else 0
        if reply.tool_calls or seen or counted >= 2 * len(_ENTRY) // _MOST_CHARACTERS:
            # the count proves that both were read, so a model that cannot repeat them is to blame
            return Answered(name, Mark.DIFFERS, f"the answer has {len(seen)} of the two", "Multi-turn cases may fail.")
        effect = f"Multi-turn cases fail: the template may leave tool results out. {_TEMPLATE}"
        text = "the answer has none of the two" + (f", and only {counted:,} tokens were read" if counted else "")
        return Answered(name, Mark.WRONG, text, effect)

    async def streamed(self) -> Answered:
        name = "streamed or not"
        is_fixed = self._model.provider in _UNCOMPARED or self._model.params.get("stream") is False
        if self._free is None or is_fixed:
            return Answered(name, Mark.OK, "not compared")
        params = self._model.params | {"stream": False}
        endpoint = open_endpoint(msgspec.structs.replace(self._model, params=params))
        try:
            first = self._free, await self._ask(_FREE, [_LOOK_UP], endpoint=endpoint)
            if (answered := _same(name, *first)).mark is not Mark.WRONG:
                return answered
            second = await self._ask(_FREE, [_LOOK_UP]), await self._ask(_FREE, [_LOOK_UP], endpoint=endpoint)
        except Fault as fault:
            return _refused(name, fault)
        finally:
            await endpoint.aclose()
        if [_form(reply) for reply in first] == [_form(reply) for reply in second]:
            return answered
        return Answered(name, Mark.DIFFERS, "answers differ from one request to the next, streamed or not")

    async def limits(self) -> Answered:
        name = "max_tokens"
        try:
            reply = await self._ask("Count from 1 to 100.", max_tokens=5)
        except Fault as fault:
            return _refused(name, fault)
        if reply.usage is not None and reply.usage.output > 12:
            effect = "Limits of suites do nothing."
            return Answered(name, Mark.WRONG, f"5 allowed, {reply.usage.output} written", effect)
        if reply.finish != "length":
            is_cut = reply.usage is not None and reply.usage.output >= 5
            effect = "Answers that were cut count as whole."
            after = f" after {reply.usage.output} tokens of 5 allowed" if reply.usage is not None and is_cut else ""
            return Answered(name, Mark.WRONG if is_cut else Mark.DIFFERS, f"ends with {reply.finish!r}{after}", effect)
        return Answered(name, Mark.OK, "ends with 'length'")

    async def stop_sequence(self) -> Answered:
        name = "stop"
        if _SPELLINGS.get(self._model.provider, {}).get("stop") == "":
            return Answered(name, Mark.OK, "not asked: this API has no stop sequences")
        try:
            reply = await self._ask("Count from 1 to 9 with spaces between.", stop=["5"])
        except Fault as fault:
            return _refused(name, fault)
        _, stop, rest = (reply.content or "").partition("5")
        effect = "Suites with stop sequences judge more than the answer."
        if len(rest.strip()) > _REST_OF_TOKEN:
            return Answered(name, Mark.WRONG, "goes on after the stop sequence", effect)
        if stop:
            return Answered(name, Mark.DIFFERS, "ends with the stop sequence, not before it", effect)
        return Answered(name, Mark.OK, "ends at the stop sequence")

    async def roles(self) -> Answered:
        name = "roles"
        messages = [
            {"role": "system", "content": "Every answer of yours is the single word BANANA."},
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": "Hello again."},
            {"role": "user", "content": "Answer, please."},
        ]
        try:
            reply = await self._ask(messages)
        except Fault as fault:
            return _refused(name, fault, f"Conversations with such turns break. {_TEMPLATE}")
        if "banana" not in (reply.content or "").lower():
            effect = "The system message may not reach the model."
            return Answered(name, Mark.DIFFERS, "does not do what the system message says", effect)
        return Answered(name, Mark.OK, "a system message, empty texts and two user messages in a row are taken")

    async def long_prompt(self) -> Answered:
        name = "30,000 characters"
        try:
            reply = await self._ask(f"The word to remember is heron.\n{_PLENTY}\nWhich word was to be remembered?")
        except Fault as fault:
            return _refused(name, fault, "Long cases break; give the server a longer context.")
        counted = reply.usage.input if reply.usage is not None else 0
        effect = "Long cases fail: the context is cut without a word. Give the server a longer one."
        if counted and counted < len(_PLENTY) // _MOST_CHARACTERS:
            return Answered(name, Mark.WRONG, f"only {counted:,} tokens were read", effect)
        if "heron" not in (reply.content or "").lower():
            effect = "The model loses the beginning of long cases." if counted else effect
            return Answered(name, Mark.DIFFERS, "the answer does not know the beginning", effect)
        return Answered(name, Mark.OK, "read to the beginning")

    async def repeats(self) -> Answered:
        name = "twice at temperature 0"
        try:
            first, second = [await self._ask("Name three rivers.", seed=7) for _ in range(2)]
        except Fault as fault:
            return _refused(name, fault)
        same = first.content == second.content
        return Answered(name, Mark.OK, "the same answer" if same else "two answers: runs cannot be repeated exactly")

    async def logprobs(self) -> Answered:
        name, without = "logprobs", "suites that choose by probability cannot be played"
        try:
            reply = await self._ask("Answer with one letter: A, B or C?", logprobs=True, top_logprobs=5)
        except Fault as fault:
            refused = _refused(name, fault)
            is_unchecked = refused.mark is Mark.UNCHECKED
            return refused if is_unchecked else Answered(name, Mark.OK, f"not given ({fault.kind.value}): {without}")
        if not reply.logprobs:
            return Answered(name, Mark.OK, f"not given: {without}")
        text = "".join(token.token for token in reply.logprobs)
        if (reply.content or "").strip() not in text:
            effect = "Suites that choose by probability read another answer."
            return Answered(name, Mark.DIFFERS, f"of another text than the answer: {text[:40]!r}", effect)
        if not any(token.top for token in reply.logprobs):
            return Answered(name, Mark.DIFFERS, "given without alternatives", f"{without.capitalize()}.")
        return Answered(name, Mark.OK, "given, with alternatives")

    async def marks(self) -> Answered:
        """Report what the server's parsers left in all answers."""
        name = "thoughts and tokens"
        symptoms = [symptom for symptom in _REMEDIES if symptom in self._symptoms]
        if not symptoms:
            return Answered(name, Mark.OK, "no answer has thoughts, special tokens or repeated arguments in it")
        text = "; ".join(f"{symptom}: {self._symptoms[symptom]}" for symptom in symptoms)
        return Answered(name, Mark.WRONG, text, " ".join(dict.fromkeys(_REMEDIES[symptom] for symptom in symptoms)))


def _beginning(reply: Reply) -> str:
    """Return the beginning of an answer's arguments, text or thoughts."""
    arguments = next((call.arguments for call in reply.tool_calls), "")
    return repr((arguments or reply.content or reply.reasoning)[:60])


def _forcing(provider: str, tool: str) -> dict[str, Any] | None:
    """Return the parameters that force a call of a tool; None if the API has none."""
    match provider:
        case "openai" | "writer" | "litellm":
            return {"tool_choice": {"type": "function", "function": {"name": tool}}}
        case "responses":
            return {"tool_choice": {"type": "function", "name": tool}}
        case "anthropic":
            return {"tool_choice": {"type": "tool", "name": tool}}
        case "gemini":
            return {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [tool]}}}
        case _:
            return None


def _is_thinking(reply: Reply) -> bool:
    """Return whether a cut answer may contain thoughts, visible or hidden, and little else."""
    return bool(reply.reasoning) or not reply.content or "<think>" in reply.content


_OF_TRANSPORT = frozenset(
    {
        FaultKind.CONNECT,
        FaultKind.BROKEN_STREAM,
        FaultKind.SILENT,
        FaultKind.STALLED,
        FaultKind.DEADLINE,
        FaultKind.RATE_LIMIT,
        FaultKind.QUOTA,
        FaultKind.AUTH,
    }
)
_UNAVAILABLE = (502, 503, 504, 529)


def _refused(name: str, fault: Fault, effect: str = "") -> Answered:
    """Return the finding of a question without an answer; only a server that read it can have refused it."""
    if fault.kind in _OF_TRANSPORT or fault.status in _UNAVAILABLE:
        return Answered(name, Mark.UNCHECKED, f"{fault.kind.value}: {fault.message}", fault.hint)
    is_damaged = fault.kind is FaultKind.BAD_ANSWER
    effect = effect or (fault.hint if is_damaged else "")
    return Answered(name, Mark.WRONG if is_damaged else Mark.REFUSES, f"{fault.kind.value}: {fault.message}", effect)


def _without_call(name: str, reply: Reply) -> Answered:
    how = written_call(reply.content or "", _NAMES)
    if how:
        effect = f"Native function calling scores nothing. {_PARSER}"
        return Answered(name, Mark.WRONG, f"written into the text ({how}): the server has no tool parser", effect)
    return Answered(
        name, Mark.DIFFERS, "answers without a call", "The model, or its template, does not know the tools."
    )


def _judge_call(name: str, call: ToolCall) -> Answered:
    try:
        given = json.loads(call.arguments)
    except ValueError:
        effect = "No call can be graded."
        return Answered(name, Mark.WRONG, f"the arguments are not JSON: {call.arguments[:60]}", effect)
    if is_encoded_twice(call.arguments):
        return Answered(name, Mark.WRONG, "the arguments are encoded twice, as a string", "No call can be graded.")
    if call.name != "look_up":
        return Answered(name, Mark.WRONG, f"arrives as {call.name!r}", "No call has its tool's name.")
    if given == {"number": 7} and not isinstance(given["number"], bool):
        return Answered(name, Mark.OK, "arrives as one")
    if given == {"number": "7"}:
        effect = "Typed arguments count as wrong."
        return Answered(name, Mark.WRONG, "a number arrives as text", effect)
    return Answered(name, Mark.DIFFERS, f"with other arguments: {call.arguments[:60]}")


def _judge_arguments(name: str, given: Any) -> Answered:
    if given == _VALUES:
        return Answered(name, Mark.OK, "nested, typed, Unicode and 2,000 characters arrive whole")
    if not isinstance(given, dict):
        return Answered(name, Mark.WRONG, "the arguments are no object", "No call can be graded.")
    values = cast("dict[str, Any]", given)
    other = [key for key in _VALUES if values.get(key) != _VALUES[key]]
    text = values.get("text")
    if (
        isinstance(text, str)
        and text != _LONG
        and _LONG.startswith(text.rstrip(" …"))
        and len(text) < 0.95 * len(_LONG)
    ):
        return Answered(name, Mark.WRONG, f"cut after {len(text):,} characters", "Long arguments count as wrong.")
    note = values.get("note")
    if isinstance(note, str) and ("\ufffd" in note or "Ã" in note or "?" in note or "\\u" in note):
        return Answered(
            name, Mark.WRONG, f"Unicode is garbled: {note[:40]}", "Texts other than English count as wrong."
        )
    if any(isinstance(values.get(key), str) and not isinstance(_VALUES[key], str | None) for key in other):
        effect = "Typed arguments count as wrong."
        return Answered(name, Mark.WRONG, f"{', '.join(other)}: numbers or objects arrive as text", effect)
    return Answered(name, Mark.DIFFERS, f"{', '.join(other)} not as asked for")


def _form(reply: Reply) -> tuple[int, str]:
    """Return the number of calls and the finish reason."""
    return len(reply.tool_calls), reply.finish


def _same(name: str, streamed: Reply, whole: Reply) -> Answered:
    effect = "Runs stream: what is lost there counts against the model. Write params = { stream = false }."

    def calls(reply: Reply) -> list[tuple[str, str]]:
        return [(call.name, call.arguments) for call in reply.tool_calls]

    if len(calls(streamed)) != len(calls(whole)):
        text = f"{len(calls(streamed))} calls streamed, {len(calls(whole))} otherwise"
        return Answered(name, Mark.WRONG, text, effect)
    if _form(streamed) != _form(whole):
        return Answered(name, Mark.WRONG, f"ends with {streamed.finish!r} or {whole.finish!r}", effect)
    if (streamed.usage is None) != (whole.usage is None):
        which = "streamed" if streamed.usage is None else "whole"
        return Answered(name, Mark.DIFFERS, f"no usage in {which} replies", "Costs are not known.")
    if calls(streamed) != calls(whole) or streamed.content != whole.content:
        return Answered(name, Mark.DIFFERS, "texts or arguments differ")
    return Answered(name, Mark.OK, "the same")
