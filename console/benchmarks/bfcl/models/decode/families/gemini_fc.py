"""Native calls as objects `{name: {…}}`: nothing is refused while decoding, so that all else has the wrong form."""

from typing import Any

from console.benchmarks.bfcl.models.decode.call_text import call_texts
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.named_calls import listed


def _decode(output: Any, form: Form) -> list[Any]:
    del form
    return listed(output)


FAMILY = Family(_decode, call_texts)
