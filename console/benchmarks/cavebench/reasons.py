"""Explanations of cave-bench's reasons for newcomers."""

REASON_WORDS = {
    "missing_function": "missing call",
    "missing_argument": "missing argument",
    "wrong_argument_value": "wrong value",
    "wrong_argument_type": "wrong type",
    "unexpected_argument": "argument not expected",
    "missing_variable_read": "variable not read",
    "missing_variable_write": "variable not written",
    "validator": "validator refused",
    "validator_failed": "validator disagreed",
    "validator_error": "validator raised an error",
    "evaluator_error": "turn cannot be judged",
    "hook_error": "the turn's hook raised an error",
    "bad_record": "record of the turn is damaged",
    "not_played": "turn not played",
    "sandbox_timeout": "code ran too long",
    "sandbox_died": "code ended its process",
    "sandbox_protocol": "code broke out of its role",
}
"""Explanations by error type of the verdict."""
