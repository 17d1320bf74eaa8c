"""Official entries with defective ground truth, which no output or only an unnatural one can pass.

Found by experiment. They are scored as usual, but marked as known bad.
"""

_IMPOSSIBLE = {
    "simple_java_36": "a list of mixed types is expected, but all elements of the list become strings",
    "simple_java_65": "a list of mixed types is expected, but all elements of the list become strings",
    "live_simple_106-63-0": "a required parameter has no acceptable value",
    "live_simple_112-68-0": "a required parameter has no acceptable value",
    "live_multiple_862-181-3": "the ground truth requires a parameter that the function does not have",
    "live_multiple_964-207-0": "a required parameter is missing from the ground truth",
}
_UNNATURAL = {
    **dict.fromkeys(
        (f"simple_java_{number}" for number in (35, 78, 83, 85, 86, 89, 90, 91)),
        "elements of a String array must be written without quotes",
    ),
    "simple_java_64": "only an empty HashMap or a value of one letter is accepted",
    "live_multiple_507-149-4": "`origin_airport` must be empty once punctuation is dropped",
}

_CUT_IN_JSON = frozenset(("simple_python_96",))
"""Entries with an argument that is a list of objects; JSON answers are parsed only up to the end of that list."""


def why_bad(entry_id: str) -> str:
    """Return the defect of an entry, or an empty string."""
    source = entry_id.rpartition(":")[2]
    if "ret_fmt=json" in entry_id and source in _CUT_IN_JSON:
        return "no output can pass this entry: a JSON answer is cut after its first list of objects"
    if source in _IMPOSSIBLE:
        return f"no output can pass this entry: {_IMPOSSIBLE[source]}"
    if source in _UNNATURAL:
        return f"only an unnatural answer passes this entry: {_UNNATURAL[source]}"
    return ""
