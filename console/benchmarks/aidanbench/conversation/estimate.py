"""Estimates the cost of a loop, from typical sizes.

Recorded loops have 26 accepted answers on average, and 49 of 101 exceed 20, so a capped loop is expected to take 17
turns. An answer has about 70 tokens. A growing chat repeats all earlier prompts with their growing lists of answers, so
its input grows with the cube of the turns.
"""

import msgspec

from console.benchmarks.aidanbench.conversation.prompts import (
    ENVIRONMENT,
    coherence_prompt,
    first_prompt,
    similarity_prompt,
)
from console.benchmarks.aidanbench.conversation.wording import Wording
from console.benchmarks.aidanbench.options import AidanOptions
from console.suites.suite import Estimate

TYPICAL_TURNS = 27
"""Turns of an uncapped loop: accepted answers plus the rejected one."""
CAPPED_SHARE = 17 / 20
ANSWER_TOKENS = 70
ITEM_TOKENS = ANSWER_TOKENS + 16
"""Tokens of an answer in the list of previous ones, with its tags."""
GRADE_TOKENS = 12
CHARS_PER_TOKEN = 4.2


def expected_turns(options: AidanOptions) -> float:
    """Return the expected number of turns."""
    if options.max_turns is None:
        return TYPICAL_TURNS
    return min(TYPICAL_TURNS, max(1.0, options.max_turns * CAPPED_SHARE))


def estimate(question: str, wording: Wording, options: AidanOptions) -> Estimate:
    """Return the expected calls and tokens of one loop by role (model, judge, embedding), and their upper bound."""
    turns = expected_turns(options)
    basis = f"from recorded loops, {turns:.0f} rounds on average, {ANSWER_TOKENS} tokens an answer"
    expected = msgspec.structs.replace(_estimate(question, wording, options, turns), basis=basis)
    if options.max_turns is None:
        return expected
    most = _estimate(question, wording, options, options.max_turns)
    return msgspec.structs.replace(expected, most=most, bound=f"every loop to round {options.max_turns}")


def _estimate(question: str, wording: Wording, options: AidanOptions, turns: float) -> Estimate:
    first = _tokens(first_prompt(wording, question))
    added = _tokens(wording.followup_environment if options.protocol == ENVIRONMENT else wording.followup_original)
    lists = ITEM_TOKENS * turns * (turns - 1) / 2
    prompts = turns * first + (turns - 1) * added + lists
    if options.protocol == ENVIRONMENT:
        # Prompt k is sent again in every later turn, so turn t carries prompts and replies 1 to t.
        repeats = turns * (turns - 1) / 2
        prompts += repeats * (first + added + ANSWER_TOKENS) + ITEM_TOKENS * turns * (turns - 1) * (turns - 2) / 6
    return Estimate(
        calls=turns,
        input_tokens=prompts,
        output_tokens=turns * (ANSWER_TOKENS + 10),
        roles={
            "judge": _judge_cost(question, wording, options, turns),
            **({"second_judge": _grading_cost(question, wording, turns)} if options.has_second_judge else {}),
            "embedding": Estimate(turns, turns * ANSWER_TOKENS, 0.0),
        },
    )


def _judge_cost(question: str, wording: Wording, options: AidanOptions, turns: float) -> Estimate:
    grading = _grading_cost(question, wording, turns, options.judge_repeats)
    calls, tokens = grading.calls, grading.input_tokens
    if options.use_llm_similarity:
        pairs = turns * (turns - 1) / 2
        calls += pairs
        tokens += pairs * (_tokens(similarity_prompt(wording, question, "", "")) + 2 * ANSWER_TOKENS)
    return Estimate(calls, tokens, calls * GRADE_TOKENS)


def _grading_cost(question: str, wording: Wording, turns: float, repeats: int = 1) -> Estimate:
    turns *= repeats
    tokens = turns * (_tokens(coherence_prompt(wording, question, "")) + ANSWER_TOKENS)
    return Estimate(turns, tokens, turns * GRADE_TOKENS)


def _tokens(text: str) -> float:
    return len(text) / CHARS_PER_TOKEN
