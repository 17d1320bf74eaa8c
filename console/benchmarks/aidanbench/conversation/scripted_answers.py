"""Scripted answers for simulated models: plausible ideas that run out, and the judge's numbers.

Each question has its own order and number of ideas, so loops end at different turns: most by repetition, some by
incoherence. Deterministic.
"""

import hashlib
import re
from collections.abc import Callable

from console.core.chat import ScriptedAnswers, Utterance

_FEWEST, _SPREAD = 3, 22
"""Range of the number of ideas per question."""
_LEAN = 0.8
"""Maximum share of an earlier answer that a late one repeats."""

IDEAS = (
    "Trace the money: whoever paid for the old arrangement has stopped paying, and habits follow budgets.",
    "Ask the night shift. People awake at four in the morning see which rules nobody keeps.",
    "Borrow from beekeepers, who never push a swarm but move the queen and wait until dusk.",
    "A map drawn by children, with smells and dogs on it, shows distances that surveys leave out.",
    "Make one week in every season free of it, and measure what is missed.",
    "Salt, rope and patience: preserve first, decide afterwards, as cod fishers did for centuries.",
    "Give the weakest participant a veto, and the design becomes gentler within a month.",
    "Two small ones side by side fail less often than a single large one.",
    "Write it as a recipe; whoever cannot list the ingredients has not understood the dish.",
    "Let retired engineers teach it on Saturdays in exchange for lunch and an audience.",
    "Gravity does the work if the heavy part is put uphill before winter.",
    "Rent instead of owning, so that the maker has to care about repairs.",
    "A lottery among volunteers removes both flattery and the fear of choosing badly.",
    "Paint it bright orange. What cannot be overlooked is rarely stolen or forgotten.",
    "Slow rivers drop their mud; a pause of ninety seconds before each step clears the view likewise.",
    "Print mistakes on the first page, with names of those who found them and a small prize.",
    "Fungi trade sugar for phosphorus without any contract, only by stopping when cheated.",
    "Turn the problem into theatre: rehearsed quarrels hurt less than real ones.",
    "Insurance companies already know the answer, because their tables price it every spring.",
    "Cut the paperwork to a postcard; what does not fit was probably never needed.",
    "Plant a hedge. It divides, feeds birds, breaks wind and asks nobody for permission.",
    "Grandmothers carried this knowledge in songs, so begin by recording the songs.",
    "Copper pipes, a bicycle pump and vinegar make a working model for under ten dollars.",
    "Swap the seats: teachers are examined by pupils for one afternoon each term.",
    "An island of silence, without screens or loudspeakers, in the middle of the busiest hall.",
    "Mathematics suggests the opposite: remove the shortest road and traffic may flow faster.",
    "Old monasteries solved it with bells, because a shared clock replaces many instructions.",
    "Charge a deposit that grows with time, and returns pile up before anybody nags.",
    "Use the cold. What is stored in cellars through January costs nothing in July.",
    "Let two rival newspapers write the same report, then publish only the sentences they share.",
    "Seen from orbit the border is invisible while the change of crops is not.",
    "Knit it: loops of a single thread tolerate holes better than woven cloth.",
    "Begin with the funeral speech you would like to hear, and plan backwards from there.",
    "Sailors rotate the watch every four hours, since tired eyes invent lighthouses.",
    "A museum of failures next to the laboratory would save each newcomer half a year.",
    "Feed it to goats first; what they refuse deserves a second inspection.",
    "Standard screws, printed manuals and a shelf of spare parts outlive any warranty.",
    "Tax the second one, not the first, so necessity stays cheap and vanity turns costly.",
    "Invite a blind guide; touch and echo reveal corners that architects forgot.",
    "Glass roofs over the alley catch rain, light and gossip at once.",
    "The gap was filled by immigrants with unfamiliar crafts, who arrived for quite different reasons.",
    "Count what leaves the building instead of what enters, for waste tells the truth.",
    "Chess clocks for committees: each speaker owns eight minutes and not a second more.",
    "A rumour of scarcity emptied shelves long before any real shortage, and fear then fed itself.",
    "Ferment it. Bacteria turn surplus cabbage into something worth queueing for.",
    "One honest thermometer in public view changes more behaviour than a hundred posters.",
)
"""Ideas that fit almost any open question."""

_BABBLE = (
    "Because seventeen is heavier than Tuesday, the question eats its own hat and swims uphill into yesterday.",
    "Purple therefore forks the moon: no yes, all stairs are soup until the alphabet sneezes.",
)
_BABBLE_SIGNS = ("Tuesday, the question eats", "therefore forks the moon")


def scripted_answer(question: str, rollout: int, accepted: tuple[str, ...]) -> Callable[[], ScriptedAnswers]:
    """Return the scripted next answer after the accepted ones."""

    def scripted() -> ScriptedAnswers:
        order = sorted(IDEAS, key=lambda idea: _roll(question, rollout, idea))
        ideas = order[: _FEWEST + _roll(question, rollout, "how many") % _SPREAD]
        left = [idea for idea in ideas if not any(answer.startswith(idea) for answer in accepted)]
        lost = _BABBLE[_roll(question, rollout, "babble") % len(_BABBLE)]
        stale = accepted[_roll(question, len(accepted), "again") % len(accepted)] if accepted else order[-1]
        if left:
            right = _restated(left[0], accepted, 1 - len(left) / len(ideas))
        else:
            right = lost if _roll(question, rollout, "ending") % 4 == 0 else stale
        return ScriptedAnswers(right=_tagged(right), wrong=(_tagged(stale),) * 4 + (_tagged(lost),))

    return scripted


def scripted_coherence(answer: str) -> Callable[[], ScriptedAnswers]:
    """Return the scripted reply of the coherence judge."""

    def scripted() -> ScriptedAnswers:
        if any(sign in answer for sign in _BABBLE_SIGNS):
            return _number("coherence_score", 5 + _roll(answer, 0, "low") % 8)
        return _number("coherence_score", 60 + 5 * (_roll(answer, 0, "high") % 8))

    return scripted


def scripted_similarity(new: str, earlier: str) -> Callable[[], ScriptedAnswers]:
    """Return the scripted reply of the similarity judge: the share of common words."""

    def scripted() -> ScriptedAnswers:
        first, second = _words(new), _words(earlier)
        together = first | second
        share = len(first & second) / len(together) if together else 1.0
        return _number("similarity_score", round(100 * share))

    return scripted


def _restated(idea: str, accepted: tuple[str, ...], used: float) -> str:
    """Return an idea; the closer `used` (0 to 1) is to 1, the more it repeats an earlier answer."""
    if not accepted:
        return idea
    words = accepted[_roll(idea, 0, "lean") % len(accepted)].split()
    borrowed = " ".join(words[: round(len(words) * used * _LEAN)])
    return f"{idea} Much as before: {borrowed}" if borrowed else idea


def _tagged(text: str) -> Utterance:
    return Utterance(f"<answer>{text}</answer>")


def _number(tag: str, value: int) -> ScriptedAnswers:
    return ScriptedAnswers(
        right=Utterance(f"<{tag}>{value}</{tag}>"), wrong=(Utterance(f"<{tag}>{max(0, value - 15)}</{tag}>"),)
    )


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _roll(text: str, number: int, salt: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{text}\0{number}\0{salt}".encode()).digest()[:6])
