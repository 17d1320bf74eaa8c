"""Forms that only wrap each message: Bielik, MiniCPM, Phi-4, Llama, Gemma."""

from collections.abc import Iterator, Sequence

from console.benchmarks.bfcl.models.templates.template import (
    PromptInput,
    Render,
    Template,
    Turn,
    as_ipython,
    users_merged,
)


def _wrapped(begin: str, before: str, between: str, after: str, tail: str, strip: bool = False) -> Render:
    """Return a drawing that writes every message, whatever its role, between fixed marks."""

    def render(given: PromptInput) -> Iterator[str]:
        yield begin
        for message in given.messages:
            content = message["content"].strip() if strip else message["content"]
            yield f"{before}{message['role']}{between}{content}{after}"
        yield tail

    return render


def _gemma(given: PromptInput) -> Iterator[str]:
    prefix = "" if given.system is None else f"{given.system.strip()}\n\n"
    yield "<bos>"
    for message in given.after_system:
        yield f"<start_of_turn>{message['role']}\n{prefix}{message['content'].strip()}<end_of_turn>\n"
        prefix = ""
    yield "<start_of_turn>model\n"


def _gemma_turn(turn: Sequence[Turn]) -> list[Turn]:
    """Call the dataset's assistants `model`; the run's own answers stay `assistant`, as officially."""
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
