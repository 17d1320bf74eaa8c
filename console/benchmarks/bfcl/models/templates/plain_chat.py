"""Templates that only wrap each message: Bielik, MiniCPM, Phi-4, Llama, Gemma, GLM-4, DeepSeek-R1."""

import json
from collections.abc import Iterator, Sequence

from console.benchmarks.bfcl.data.tools import native_tools
from console.benchmarks.bfcl.models.templates.template import (
    Completion,
    PromptInput,
    Render,
    Template,
    Turn,
    as_ipython,
    system_as_user,
    users_merged,
)


def _wrapped(begin: str, before: str, between: str, after: str, tail: str, strip: bool = False) -> Render:
    """Return a template that wraps every message, regardless of its role, in fixed marks."""

    def render(inputs: PromptInput) -> Iterator[str]:
        yield begin
        for message in inputs.messages:
            content = message["content"].strip() if strip else message["content"]
            yield f"{before}{message['role']}{between}{content}{after}"
        yield tail

    return render


def _gemma(inputs: PromptInput) -> Iterator[str]:
    prefix = "" if inputs.system is None else f"{inputs.system.strip()}\n\n"
    yield "<bos>"
    for message in inputs.after_system:
        yield f"<start_of_turn>{message['role']}\n{prefix}{message['content'].strip()}<end_of_turn>\n"
        prefix = ""
    yield "<start_of_turn>model\n"


def _gemma_turn(turn: Sequence[Turn]) -> list[Turn]:
    """Rename the role of the dataset's assistant messages to `model`; the official code keeps the role of answers."""
    return [
        {**message, "role": "model"} if message["role"] == "assistant" else message for message in users_merged(turn)
    ]


BIELIK = Template(
    _wrapped("<s>", "<|im_start|>", "\n", "<|im_end|>\n", "<|im_start|>assistant\n"), described_in_prompt=True
)
MINICPM = Template(
    _wrapped("", "<|im_start|>", "\n", "<|im_end|>\n", "<|im_start|>assistant\n"), described_in_prompt=True
)
PHI_4 = Template(
    _wrapped("", "<|im_start|>", "<|im_sep|>", "<|im_end|>\n", "<|im_start|>assistant<|im_sep|>"),
    described_in_prompt=True,
)
PHI_4_MINI = Template(_wrapped("", "<|", "|>", "<|end|>", "<|assistant|>"), described_in_prompt=True)
LLAMA = Template(
    _wrapped(
        "<|begin_of_text|>",
        "<|start_header_id|>",
        "<|end_header_id|>\n\n",
        "<|eot_id|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        strip=True,
    ),
    described_in_prompt=True,
    show_results=as_ipython,
)
LLAMA_4 = Template(
    _wrapped(
        "<|begin_of_text|>",
        "<|header_start|>",
        "<|header_end|>\n\n",
        "<|eot|>",
        "<|header_start|>assistant<|header_end|>\n\n",
        strip=True,
    ),
    described_in_prompt=True,
    show_results=as_ipython,
)
GEMMA = Template(_gemma, described_in_prompt=True, open_turn=_gemma_turn)


def _glm_4(inputs: PromptInput) -> Iterator[str]:
    """Yield the tools under headings in a Chinese system message."""
    texts = inputs.texts.of("glm", "GLMHandler._format_prompt")
    tools = native_tools(inputs.docs)
    if tools:
        yield texts[1]
    for tool in tools:
        yield f"\n\n## {tool['function']['name']}\n\n{json.dumps(tool['function'], indent=4)}{texts[7]}"
    for message in inputs.messages:
        yield f"<|{message['role']}|>\n{message['content']}"
    yield "<|assistant|>"


GLM_4 = Template(_glm_4, request={"stop_token_ids": [151329, 151336, 151338]})


def _deepseek_r1(inputs: PromptInput) -> Iterator[str]:
    """Yield the prompt without a system role; thoughts are removed from earlier answers."""
    yield "<｜begin▁of▁sentence｜>"
    for message in inputs.messages:
        if message["role"] == "user":
            yield f"<｜User｜>{message['content']}"
        elif message["role"] == "assistant":
            yield f"<｜Assistant｜>{message['content'].split('</think>')[-1]}<｜end▁of▁sentence｜>"
    yield "<｜Assistant｜><think>\n"


def _open_deepseek(turn: Sequence[Turn]) -> list[Turn]:
    return users_merged(system_as_user(turn))


def _read_after_thought(text: str) -> Completion:
    """Return the text after the last thought; the official code also records it as the reasoning."""
    answer = text.split("</think>")[-1]
    reasoning = answer if "</think>" in text else ""
    return Completion(answer, {"role": "assistant", "content": text}, reasoning)


def _show_list(calls: Sequence[str], results: Sequence[str], answer: Turn) -> list[Turn]:
    """Return one user message with a list of results, rendered late so that it is never merged with others."""
    del answer
    shown = [{"role": "tool", "name": call, "content": text} for call, text in zip(calls, results, strict=False)]
    return [{"role": "user", "content": shown}]


DEEPSEEK_R1 = Template(
    _deepseek_r1, described_in_prompt=True, open_turn=_open_deepseek, read=_read_after_thought, show_results=_show_list
)
