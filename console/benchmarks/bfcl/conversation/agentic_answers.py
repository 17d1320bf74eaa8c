"""Right and wrong answers in memory and web search, for the simulated models: note, look up, answer."""

from collections.abc import Callable, Sequence

from console.benchmarks.bfcl.conversation.rendering import Doc
from console.benchmarks.bfcl.conversation.scripted_answers import Call
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.core.chat import ScriptedAnswers, Utterance

_NOTED = Utterance("Noted.")
_LOST = Utterance("{'answer': 'I do not know', 'context': 'I do not know'}")
_LONGEST = 600


def scripted_agentic_turn(entry: Entry, docs: Sequence[Doc], turn: int, step: int) -> Callable[[], ScriptedAnswers]:
    """Return what the simulated models may answer.

    A prerequisite's turn is noted with one call and acknowledged; a question is looked up with one call and answered.
    The lookup shows what there is, and the answer comes from the ground truth: simulated models do not reason.
    """
    del docs
    return lambda: _writing_step(entry, turn, step) if names.is_prerequisite(entry.id) else _reading_step(entry, step)


def _writing_step(entry: Entry, turn: int, step: int) -> ScriptedAnswers:
    if step:
        return ScriptedAnswers(_NOTED)
    lines = [message for message in entry.question[turn] if message["role"] == "user"]
    text = " ".join(str(lines[-1].get("content") or "").split())[:_LONGEST] if lines else ""
    return ScriptedAnswers(
        Utterance(calls=(_note(names.backend_of(entry.id), f"talk_{len(entry.depends_on)}_{turn}", text),))
    )


def _note(backend: str, key: str, text: str) -> Call:
    match backend:
        case "kv":
            return "archival_memory_add", {"key": key, "value": text}
        case "vector":
            return "archival_memory_add", {"text": text}
        case _:
            return "memory_append", {"text": f"{text}\n"}


def _reading_step(entry: Entry, step: int) -> ScriptedAnswers:
    if step == 0:
        return ScriptedAnswers(Utterance(calls=(_look_up(entry),)), (_LOST,))
    truth = (entry.ground_truth or ["unknown"])[0]
    return ScriptedAnswers(Utterance(f"{{'answer': '{truth}', 'context': 'It was found by looking it up.'}}"), (_LOST,))


def _look_up(entry: Entry) -> Call:
    if not names.is_memory(entry.id):
        return "search_engine_query", {"keywords": entry.title}
    match names.backend_of(entry.id):
        case "kv":
            return "archival_memory_list_keys", {}
        case "vector":
            return "archival_memory_retrieve", {"query": entry.title}
        case _:
            return "memory_retrieve", {}
