"""GLM-4: tools as a list of headings in a Chinese system text."""

import json
from collections.abc import Iterator

from console.benchmarks.bfcl.conversation.tools import native_tools
from console.benchmarks.bfcl.models.templates.template import PromptInput, Template


def _render(given: PromptInput) -> Iterator[str]:
    texts = given.texts.of("glm", "GLMHandler._format_prompt")
    tools = native_tools(given.docs)
    if tools:
        yield texts[1]
    for tool in tools:
        yield f"\n\n## {tool['function']['name']}\n\n{json.dumps(tool['function'], indent=4)}{texts[7]}"
    for message in given.messages:
        yield f"<|{message['role']}|>\n{message['content']}"
    yield "<|assistant|>"


GLM_4 = Template(_render, request={"stop_token_ids": [151329, 151336, 151338]})
