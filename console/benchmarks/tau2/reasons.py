"""Display text of τ²-bench's verdict reasons."""

REASON_WORDS = {
    "wrong_world": "world is not the expected one",
    "goal_missed": "goal not reached",
    "missing_call": "expected call missing",
    "not_said": "expected words not said",
    "judged_unmet": "judge: expectation not met",
    "max_steps": "too many steps",
    "too_many_errors": "too many tool errors",
    "agent_error": "agent broke the protocol",
    "user_error": "user broke the protocol",
    "empty_message": "agent wrote an empty message",
    "malformed_call": "arguments not a JSON object",
    "no_call": "agent wrote text in place of a call",
    "stop_beside_calls": "agent stopped with calls",
    "user_silent": "user wrote no message",
    "judge_unreadable": "judge reply invalid twice",
    "replay": "calls cannot be replayed",
    "unreadable_output": "output is unreadable",
}
"""Display text by verdict reason."""
