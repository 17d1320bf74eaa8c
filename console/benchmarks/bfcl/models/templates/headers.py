"""Templates with role headers and functions as indented JSON: Llama 3.1, xLAM-2, BitAgent, ThinkAgent."""

from collections.abc import Iterator

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.models.templates.template import PromptInput, Render, Template, Turn, indented_docs


def _header(role: str, content: str) -> str:
    return f"<|start_header_id|>{role}<|end_header_id|>\n\n{content}<|eot_id|>"


def _plain_header(role: str, content: str) -> str:
    """Return a message in the xLAM-Qwen format, which has no trailing newline."""
    return f"<|im_start|>{role}\n{content}<|im_end|>"


def _llama_31(inputs: PromptInput) -> Iterator[str]:
    texts = inputs.texts.of("llama_3_1", "LlamaHandler_3_1._format_prompt")
    system = "" if inputs.system is None else inputs.system.strip()
    yield "<|begin_of_text|>" + _header("system", f"{texts[6]}{texts[7]}{texts[8]}{system}")
    first_question = True
    for message in inputs.after_system:
        role, content = message["role"], message["content"]
        if role == "tool":
            yield _header("ipython", content)
        elif role == "user" and first_question:
            first_question = False
            described = f"{''.join(texts[13:17])}{indented_docs(inputs.docs)}"
            yield _header("user", described + content.strip())
        else:
            yield _header(role, content.strip())
    yield "<|start_header_id|>assistant<|end_header_id|>\n\n"


def _described_in_system(module: str, handler: str) -> Render:
    """Return the template of xLAM-Llama and BitAgent, with instructions and documents in one system message."""

    def render(inputs: PromptInput) -> Iterator[str]:
        yield "<|begin_of_text|>" + _header("system", _tool_prose(inputs, module, handler))
        for message in inputs.after_system:
            tool = message["role"] == "tool"
            yield _header("ipython" if tool else message["role"], _shown(message))
        yield "<|start_header_id|>assistant<|end_header_id|>\n\n"

    return render


def _xlam_qwen(inputs: PromptInput) -> Iterator[str]:
    yield _plain_header("system", _tool_prose(inputs, "salesforce_qwen", "SalesforceQwenHandler"))
    for message in inputs.after_system:
        yield _plain_header(message["role"], _shown(message))
    yield "<|im_start|>assistant\n"


def _shown(message: Turn) -> str:
    content: str = message["content"]
    return content if message["role"] == "tool" else content.strip()


def _tool_prose(inputs: PromptInput, module: str, handler: str) -> str:
    texts = inputs.texts.of(module, f"{handler}._format_prompt")
    own = texts[1] if inputs.system is None else inputs.system.strip()
    return f"{own}\n{''.join(texts[7:12])}{indented_docs(inputs.docs)}"


def _think_agent(inputs: PromptInput) -> Iterator[str]:
    """Yield one question with the tools; later messages are ignored, as in the official code."""
    texts = inputs.texts.of("think_agent", "ThinkAgentHandler._format_prompt")
    yield f"<|begin_of_text|>{''.join(texts[3:7])}"
    tools = [_properties_only(doc) for doc in inputs.docs]
    for message in inputs.after_system[:1]:
        yield f"{''.join(texts[7:12])}{tools}{message['content'].strip()}<|eot_id|>"
    yield "<|start_header_id|>assistant<|end_header_id|>"


def _properties_only(doc: Doc) -> Doc:
    return {
        "name": doc["name"],
        "description": doc["description"],
        "parameters": dict(doc["parameters"].get("properties", {})),
    }


LLAMA_31 = Template(_llama_31)
XLAM_LLAMA = Template(_described_in_system("salesforce_llama", "SalesforceLlamaHandler"))
XLAM_QWEN = Template(_xlam_qwen)
BITAGENT = Template(_described_in_system("bitagent", "BitAgentHandler"))
THINK_AGENT = Template(_think_agent, described_in_prompt=True)
