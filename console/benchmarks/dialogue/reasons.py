"""Display text of the dialogue format's verdict reasons; those of calls are in BFCL."""

REASON_WORDS = {
    "wrong_text": "wrong text",
    "right_inside": "right answer inside other text",
    "text_missing": "text missing",
    "no_match": "no match",
    "wrong_number": "wrong number",
    "no_number": "no number",
    "wrong_choice": "wrong choice",
    "no_choice": "no choice",
    "not_followed": "instruction not followed",
    "no_detector": "no language detector installed",
    "tests_failed": "hidden test failed",
    "code_failed": "code does not run",
    "not_run": "code not run",
    "not_json": "not JSON",
    "other_json": "JSON does not match the schema",
    "bad_arguments": "arguments are not JSON",
    "forbidden_call": "forbidden call",
    "low_grade": "graded too low",
    "wrong_category": "put into another category",
    "judge_unreadable": "judge reply invalid twice",
    "no_judge": "no judge called",
    "too_slow": "check timed out",
    "not_played": "turn not played",
    "unreadable_output": "output is unreadable",
}
"""Display text by verdict reason."""
