"""`Wording`: the texts of prompts, and our own version for data without the official one.

Official texts are read from the pulled release (`official_wording.py`). Our own texts request the same formats in other
words, for bundled suites; each run records the version used.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Wording:
    """All texts that surround a question."""

    name: str
    """Name recorded with every run."""
    output_formats: Mapping[str, str]
    """Example of a list of calls, by return format."""
    param_types: Mapping[str, str]
    """Sentence about type names, by return format; empty for most formats."""
    styles: Mapping[str, Mapping[str, str]]
    """By style and key: persona, task, tool_call_no_tag, tool_call_with_tag, multiturn_behavior, available_tools."""
    layouts: Mapping[str, str]
    """Templates that join the texts of a style: `plaintext` and `markdown`."""
    added_functions: str
    """User message when withheld functions become available, in tool mode."""
    added_functions_prompt: str
    """The same message in prompting mode, with the documents in `{functions}`."""
    agentic_answer: str
    """Required format of final answers to memory and web-search questions."""
    memory_settings: Mapping[str, str]
    """Description of the assistant by scenario."""
    memory_core: str
    """Instructions for the memory backends with core and archival memory."""
    memory_unified: str
    """Instructions for the memory backend that keeps a single text."""
    memory_empty: Mapping[str, str]
    """Text for an empty memory, by backend."""
    hints: Mapping[str, str]
    """Sentence appended to every function description, by language."""
    type_hints: Mapping[str, str]
    """Text appended to parameter descriptions: `java_any`, `java_typed`, `java_items`, same for JavaScript, and
    `javascript_entries`."""


def fill(template: str, **values: str) -> str:
    """Replace `{slots}` with values; slots without a value and other braces stay unchanged."""
    return _SLOT.sub(lambda match: values.get(match[1], match[0]), template)


_XML_TYPES = "Each type must be string, integer, float, boolean, array, dict or tuple."

OWN = Wording(
    name="eval-console 1",
    output_formats={
        "python": "[first_function(name=value, other=value), second_function(name=value)]",
        "json": '[{"function": "first_function", "parameters": {"name": "value"}}]',
        "verbose_xml": (
            '<functions><function name="first_function"><params><param name="name" value="value" type="string"/>'
            "</params></function></functions>"
        ),
        "concise_xml": (
            '<functions><function name="first_function"><param name="name" type="string">value</param>'
            "</function></functions>"
        ),
    },
    param_types={"python": "", "json": "", "verbose_xml": _XML_TYPES, "concise_xml": _XML_TYPES},
    styles={
        "classic": {
            "persona": "You turn requests into function calls. ",
            "task": (
                "Read the request and the functions below, and write the calls that fulfil it. When no function fits, "
                "or a value that a function needs was not given, say so in a sentence instead of calling anything."
            ),
            "tool_call_no_tag": (
                "Answer with nothing but the calls, written as {output_format}. {param_types}\n"
                "Name every argument, quote every text, and add no explanation."
            ),
            "tool_call_with_tag": (
                "Answer with nothing but the calls, written as <TOOLCALL>{output_format}</TOOLCALL>. {param_types}\n"
                "Name every argument, quote every text, and add no explanation."
            ),
            "multiturn_behavior": (
                "Keep calling until the current request is done; a reply without a call ends the turn."
            ),
            "available_tools": "The functions, in {format} form:\n{functions}\n",
        },
        "experimental": {
            "persona": "You are a dispatcher that calls functions. ",
            "task": "Choose functions and values for the request, or say in a sentence why none can be called.",
            "tool_call_no_tag": "Write exactly {output_format} and nothing else. {param_types}",
            "tool_call_with_tag": "Write exactly <TOOLCALL>{output_format}</TOOLCALL> and nothing else. {param_types}",
            "multiturn_behavior": "Go on until the request is done, then reply without a call.",
            "available_tools": "Callable functions ({format}):\n{functions}\n",
        },
    },
    layouts={
        "plaintext": "{persona}{task}\n\n{tool_call_format}\n\n{multiturn_behavior}\n\n{available_tools}",
        "markdown": (
            "{persona}\n\n# Task\n{task}\n\n# Answer\n{tool_call_format}\n\n# Turns\n{multiturn_behavior}\n\n"
            "# Functions\n{available_tools}"
        ),
    },
    added_functions="More functions are available now. Please try again with them.",
    added_functions_prompt="{functions}\nMore functions are available now. Please try again with them.",
    agentic_answer=(
        "Give your final answer as {'answer': a short answer, 'context': one sentence on how you know}. "
        "If you cannot find it, answer {'answer': 'I do not know', 'context': 'I do not know'}.\n"
    ),
    memory_settings={
        "student": "You support a student and remember what matters for their studies.",
        "customer": "You serve the customers of a shop and remember what they told you.",
        "finance": "You assist somebody who works in finance and remember facts, goals and decisions.",
        "healthcare": "You accompany a patient between appointments and remember history, plans and wishes.",
        "notetaker": "You keep somebody's notes: tasks, dates and preferences.",
    },
    memory_core=(
        "{scenario_setting}\n\nYou have two stores that outlive this conversation: a small core memory, always shown "
        "to you, and a large archive that you must search. Keep both useful and up to date.\n\n"
        "Your core memory now:\n{memory_content}\n"
    ),
    memory_unified=(
        "{scenario_setting}\n\nYou have a memory that outlives this conversation. Keep it useful and up to date.\n\n"
        "Your memory now:\n{memory_content}\n"
    ),
    memory_empty={"kv": "(nothing yet)", "rec_sum": "(nothing yet)"},
    hints={
        "python": " Write the call in Python 3 syntax.",
        "java": " Write the call in Java 8 syntax.",
        "javascript": " Write the call in JavaScript syntax.",
    },
    type_hints={
        "java_any": " Any Java object, written as text.",
        "java_typed": " A Java {type}, written as text.",
        "java_items": " Its elements are of type {type} and not written as text.",
        "javascript_any": " Any JavaScript value, written as text.",
        "javascript_typed": " A JavaScript {type}, written as text.",
        "javascript_items": " Its elements are of type {type} and not written as text.",
        "javascript_entries": " Its entries, not written as text, are described by {type}",
    },
)
