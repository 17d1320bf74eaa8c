"""Reasons of the dialogue format in words; those of calls are BFCL's."""

REASON_WORDS = {
    "wrong_text": "another text",
    "text_missing": "text missing",
    "no_match": "no match",
    "wrong_number": "wrong number",
    "no_number": "no number",
    "wrong_choice": "wrong choice",
    "no_choice": "no choice",
    "not_json": "not JSON",
    "other_json": "JSON of another form",
    "bad_arguments": "arguments that are no JSON",
    "forbidden_call": "a call that must not be",
    "low_grade": "graded too low",
    "judge_unreadable": "judge could not be read, twice",
    "no_judge": "no judge was asked",
    "too_slow": "a check took too long",
    "not_played": "turn not played",
    "unreadable_output": "output cannot be read",
}
"""By the error type that a verdict records."""
