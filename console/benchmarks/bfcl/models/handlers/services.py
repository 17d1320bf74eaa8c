"""The services of the official handlers: URL, key and additional request fields, by official class.

Source: BFCL v4, `model_handler/api_inference`.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_COLD: Mapping[str, Any] = MappingProxyType({"temperature": None})
"""Request fields that omit the temperature."""


def _not_stored() -> Mapping[str, Any]:
    return {"store": False}


def with_own_seed(params: Mapping[str, Any], call: str) -> dict[str, Any]:
    """Return request fields with a seed of this call if they have one; the official client draws it at random."""
    return {**params, **({"seed": zlib.crc32(call.encode()) >> 2} if "seed" in params else {})}


@dataclass(frozen=True, slots=True)
class Service:
    """One service with the request format of its official handler."""

    base_url: str
    """Base URL; a local one if the official code reads it from the environment."""
    key_env: str
    native: Mapping[str, Any] = field(default_factory=_not_stored)
    """Additional fields of requests with tools; None removes a field of the model's settings."""
    prompting: Mapping[str, Any] = field(default_factory=_not_stored)
    """Additional fields of requests without tools."""
    reasoning: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Additional fields that enable reasoning."""
    long: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Additional fields in conversations with several requests."""
    keeps_reasoning: bool = True
    """Resend answers with their `reasoning_content`."""
    merges_users: bool = False
    """Join consecutive user messages of a turn when prompting."""
    merges_native_users: bool = False
    """Join consecutive user messages of a turn with tools."""
    names_results: bool = False
    """Include the function name in tool messages."""
    stream: bool | None = None
    """`stream` of the official request if it has that field without options; ours streams, and asks for usage."""
    hides_text: bool = False
    """Resend answers as calls only, and results without call ids."""
    answer_fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Additional fields of resent answers."""
    always_tools: bool = False
    """True to send the list of tools even if it is empty."""
    dotted_names: bool = False
    """Keep dots in function names."""
    with_tools: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Additional fields of requests with at least one tool."""
    plain_parameters: str = ""
    """Further attributes of top-level parameters that are moved to their descriptions: `all`, or `typed`, without the
    enums of strings; empty for none."""
    ends_with_user: bool = False
    """Add an empty user message to a later turn that does not end with one."""
    rewrites_results: bool = False
    """Send results that are literal objects as JSON, with `ID` for `id`."""
    response: str = "field"
    """Location of a function's response schema: its own `field`, the `description`, or `nowhere`."""


_LOCAL = "http://localhost:8000/v1"
_QWEN: Mapping[str, Any] = {
    **_COLD,
    "stream": True,
    "stream_options": {"include_usage": True},
    "enable_thinking": True,
}

SERVICES: Mapping[str, Service] = {
    "OpenAICompletionsHandler": Service("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "FunctionaryHandler": Service(_LOCAL, ""),
    "KimiHandler": Service("https://api.moonshot.ai/v1", "KIMI_API_KEY"),
    "GoGoAgentHandler": Service("https://api.gogoagent.ai", "GOGOAGENT_API_KEY"),
    "NvidiaHandler": Service("https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", merges_users=True),
    "MiningHandler": Service("http://localhost:8000/v1", "MINING_API_KEY"),
    "GrokHandler": Service("https://api.x.ai/v1", "GROK_API_KEY", keeps_reasoning=False),
    "DeepSeekAPIHandler": Service(
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        native=_NOTHING,
        prompting=_COLD,
        keeps_reasoning=False,
        merges_users=True,
    ),
    "LingAPIHandler": Service(
        "https://bailingchat.alipay.com",
        "LING_API_KEY",
        prompting=_COLD,
        keeps_reasoning=False,
        merges_users=True,
    ),
    "GLMAPIHandler": Service(
        "https://open.bigmodel.cn/api/paas/v4", "GLM_API_KEY", reasoning={**_COLD, "thinking": {"type": "enabled"}}
    ),
    "QwenAPIHandler": Service(
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "QWEN_API_KEY",
        native={**_QWEN, "parallel_tool_calls": True},
        prompting=_QWEN,
        always_tools=True,
    ),
    "NanbeigeAPIHandler": Service(
        "https://nanbeige.zhipin.com/api/gpt/open/chat/openai/v1", "NBG_API_KEY", native=_COLD, always_tools=True
    ),
    "NovitaHandler": Service(
        "https://api.novita.ai/v3/openai",
        "NOVITA_API_KEY",
        native=_NOTHING,
        prompting=_NOTHING,
        response="description",
    ),
    "MistralHandler": Service(
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        native=_NOTHING,
        prompting=_NOTHING,
        keeps_reasoning=False,
        names_results=True,
        stream=False,
        answer_fields={"prefix": False},
        always_tools=True,
        response="nowhere",
    ),
    "FireworksHandler": Service(
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        native=_NOTHING,
        hides_text=True,
        dotted_names=True,
        response="description",
    ),
    "GorillaHandler": Service("https://luigi.millennium.berkeley.edu:443/v1", "", prompting=_NOTHING),
    "NemotronHandler": Service("https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    "QwenAgentThinkHandler": Service(
        _LOCAL,
        "",
        prompting={
            "temperature": 0.6,
            "top_p": 0.95,
            "top_k": 20,
            "repetition_penalty": 1.0,
            "presence_penalty": 0.0,
            "max_tokens": 16384,
            "chat_template_kwargs": {"enable_thinking": True},
            "seed": 0,
        },
        stream=True,
    ),
    "DMCitoHandler": Service("http://localhost:8000/v1", "DMCITO_API_KEY"),
    "OpenAIResponsesHandler": Service(
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        native=_NOTHING,
        prompting=_NOTHING,
        reasoning={**_COLD, "include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"}},
    ),
    "ClaudeHandler": Service(
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        native={"max_tokens": 64000},
        prompting={"max_tokens": 64000},
        long={"prompt_cache": True},
        merges_users=True,
        merges_native_users=True,
        always_tools=True,
        response="description",
    ),
    "GeminiHandler": Service(
        "https://generativelanguage.googleapis.com/v1beta",
        "GOOGLE_API_KEY",
        native={"thinkingConfig": {"include_thoughts": True}},
        prompting={"thinkingConfig": {"include_thoughts": True}},
        plain_parameters="typed",
        response="description",
    ),
    "CohereHandler": Service(
        "https://api.cohere.com/v2",
        "COHERE_API_KEY",
        native={"citation_options": {"mode": "OFF"}},
        always_tools=True,
        ends_with_user=True,
        rewrites_results=True,
        response="nowhere",
    ),
    "NovaHandler": Service(
        "https://bedrock-runtime.us-east-1.amazonaws.com",
        "AWS_BEARER_TOKEN_BEDROCK",
        native=_NOTHING,
        reasoning={
            "additionalModelRequestFields": {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}}
        },
        merges_native_users=True,
        response="description",
    ),
    "WriterHandler": Service(
        "https://api.writer.com/v1",
        "WRITER_API_KEY",
        native=_NOTHING,
        with_tools={"tool_choice": "auto"},
        dotted_names=True,
        plain_parameters="all",
        response="description",
    ),
}
