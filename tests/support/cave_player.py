"""A server that plays the model in conversations of cave-bench: right or wrong, told by the query it was last asked."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from server.openai_server import Scripted

from console.benchmarks.cavebench.conversation.scripted_answers import scripted_answers_for
from console.core.chat import Utterance


class Player:
    """Answers each turn as its script says; `wrong` holds the ids of conversations that are answered wrongly."""

    def __init__(self, folder: Path, mode: Any, wrong: frozenset[str] = frozenset()) -> None:
        self.mode, self.wrong = mode, wrong
        self.asked: Counter[str] = Counter()
        """How often each step was asked for: `query#step`."""
        self.turns: dict[str, tuple[str, dict[str, Any]]] = {}
        for path in sorted(folder.rglob("*.json")):
            for scenario in json.loads(path.read_text()):
                for conversation in scenario["conversations"]:
                    for turn in conversation["turns"]:
                        self.turns[turn["query"]] = (conversation["id"], turn)

    def answer(self, request: dict[str, Any]) -> Scripted:
        messages = request["messages"]
        place, query = max((number, query) for number, one in enumerate(messages) for query in self._queries(one))
        step = sum(one["role"] == "assistant" for one in messages[place:])
        self.asked[f"{query}#{step}"] += 1
        conversation, turn = self.turns[query]
        answers = scripted_answers_for(turn, self.mode, step)
        said: Utterance = answers.wrong[0] if conversation in self.wrong else answers.right
        return Scripted(said.content, calls=list(said.calls))

    def _queries(self, message: dict[str, Any]) -> list[str]:
        """The query a message asks; a hook may have added to it."""
        said = str(message.get("content")) if message["role"] == "user" else ""
        return [query for query in self.turns if said.startswith(query)]


MODULE = '''
from core.validation import ValidatorResult

_seen = []

def remember(word: str) -> list:
    """Remember a word and list all.

    Args:
        word: What to remember.
    """
    _seen.append(word)
    return list(_seen)

def agrees(response, runtime, turn, actual_calls):
    words = turn.query.split()
    return ValidatorResult(_seen[-1] == words[-1] and {w.split("-")[0] for w in _seen} == {words[0]}, str(_seen))

tools = [remember]
validators = {"agrees": agrees}
'''


def write_suite(root: Path, conversations: int, turns: int = 3) -> Path:
    """Write the suite `apart` below `root`: all conversations define the same names, and fail if they see another's."""
    folder = root / "apart"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text('format = "cavebench"\ntitle = "Apart"\n')
    (folder / "words.py").write_text(MODULE)
    made = [{"id": f"c{n}", "turns": [_turn(f"c{n}", t) for t in range(turns)]} for n in range(conversations)]
    (folder / "words.json").write_text(json.dumps([{"name": "words", "module": "words", "conversations": made}]))
    return folder


def _turn(name: str, number: int) -> dict[str, Any]:
    word = f"{name}-{number}"
    first = f"mine = {name!r}\nheard = []" if number == 0 else f"assert mine == {name!r} and len(heard) == {number}"
    return {
        "query": f"{name} says {word}",
        "expected_function_calls": [{"name": "remember", "arguments": [{"name": "word", "value": word}]}],
        "validator": "agrees",
        "cue": {"code": f"{first}\nheard.append({word!r})\nprint(remember({word!r}))", "answer": word},
    }
