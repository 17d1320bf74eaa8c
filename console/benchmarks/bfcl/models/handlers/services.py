"""The services that the official handlers ask: address, key, and what each sends beside messages and tools.

Source: BFCL v4, `model_handler/api_inference`. By the name of the official class; nothing here knows a model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_COLD: Mapping[str, Any] = MappingProxyType({"temperature": None})
"""The service is not told a temperature."""


def _not_stored() -> Mapping[str, Any]:
    return {"store": False}


@dataclass(frozen=True, slots=True)
class Service:
    """One service, as the official handler speaks to it."""

    base_url: str
    """A local one where the official code takes it from the environment."""
    key_env: str
    native: Mapping[str, Any] = field(default_factory=_not_stored)
    """Further fields of requests with tools; None leaves out what the model's settings say."""
    prompting: Mapping[str, Any] = field(default_factory=_not_stored)
    """The same without tools."""
    reasoning: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields for rows that are asked to reason."""
    long: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields in conversations of several requests."""
    keeps_reasoning: bool = True
    """Whether an answer is put back with its `reasoning_content`."""
    merges_users: bool = False
    """Whether, in prompting, user messages of a turn that follow each other are joined."""
    merges_native_users: bool = False
    """The same with tools."""
    names_results: bool = False
    """Whether a tool message carries the name of its function."""
    says_unstreamed: bool = False
    """Whether the official request, which does not stream, says so; ours asks for a stream."""
    hides_text: bool = False
    """Whether an answer is put back as calls alone, and results without the ids of their calls."""
    answer_fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields of the messages that put answers back."""
    always_tools: bool = False
    """Whether a list of tools is sent even when it is empty."""
    dotted_names: bool = False
    """Whether function names keep their dots."""
    response: str = "field"
    """Where the schema of a function's response stands: its own `field`, the `description`, or `nowhere`."""


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
        says_unstreamed=True,
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
    "NemotronHandler": Service("https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
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
        response="description",
    ),
}
