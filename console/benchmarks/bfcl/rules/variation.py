"""Format sensitivity: the 26 prompt variations and the parser of their names.

Names have the format `ret_fmt=…&tool_call_tag=…&func_doc_fmt=…&prompt_fmt=…&style=…`; other categories use `DEFAULT`.
"""

import re
from dataclasses import dataclass
from functools import cache
from itertools import product

from console.core.fault import UsageError


def _name(ret: str, tag: str, doc: str, prompt: str = "plaintext", style: str = "classic") -> str:
    return f"ret_fmt={ret}&tool_call_tag={tag}&func_doc_fmt={doc}&prompt_fmt={prompt}&style={style}"


RETURN_FORMATS = ("python", "json", "verbose_xml", "concise_xml")
DEFAULT = _name("python", "False", "json")
CONFIGS: tuple[str, ...] = (
    *(_name(*parts) for parts in product(RETURN_FORMATS, ("True", "False"), ("python", "xml", "json"))),
    _name("python", "False", "json", prompt="markdown"),
    _name("python", "False", "json", style="experimental"),
)
"""All variations in official order: 24 combinations, then markdown and experimental."""

_FORM = re.compile(
    r"ret_fmt=(python|json|verbose_xml|concise_xml)&tool_call_tag=(True|False)&func_doc_fmt=(python|xml|json)"
    r"&prompt_fmt=(plaintext|markdown)&style=(classic|experimental)"
)


@dataclass(frozen=True, slots=True)
class Variation:
    """Formats of the prompt and of the requested calls."""

    returns: str
    """`python`, `json`, `verbose_xml` or `concise_xml`."""
    tagged: bool
    """True if calls must be in `<TOOLCALL>` tags."""
    docs: str
    """`python`, `xml` or `json`."""
    prompt: str
    """`plaintext` or `markdown`."""
    style: str
    """`classic` or `experimental`."""


@cache
def read_variation(config: str) -> Variation:
    """Parse the name of a variation; an empty string is the default.

    Raises:
        UsageError: unknown name.
    """
    match = _FORM.fullmatch(config or DEFAULT)
    if match is None:
        raise UsageError(f"not a format-sensitivity configuration: {config!r}")
    returns, tag, docs, prompt, style = match.groups()
    return Variation(returns, tag == "True", docs, prompt, style)
