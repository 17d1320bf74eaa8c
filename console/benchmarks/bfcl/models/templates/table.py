"""Templates by their name in the registry."""

from console.benchmarks.bfcl.models.templates import (
    functiongemma,
    granite,
    hammer,
    headers,
    ministral,
    plain_chat,
    qwen,
)
from console.benchmarks.bfcl.models.templates.template import Template

TEMPLATES: dict[str, Template] = {
    "arch": qwen.ARCH,
    "bielik": plain_chat.BIELIK,
    "bitagent": headers.BITAGENT,
    "deepseek_r1": plain_chat.DEEPSEEK_R1,
    "functiongemma": functiongemma.FUNCTIONGEMMA,
    "gemma": plain_chat.GEMMA,
    "glm4": plain_chat.GLM_4,
    "granite20b": granite.GRANITE_20B,
    "granite3": granite.GRANITE_3,
    "granite4": granite.GRANITE_4,
    "hammer": hammer.HAMMER,
    "llama": plain_chat.LLAMA,
    "llama31": headers.LLAMA_31,
    "llama4": plain_chat.LLAMA_4,
    "minicpm": plain_chat.MINICPM,
    "ministral": ministral.MINISTRAL,
    "nanbeige": qwen.NANBEIGE,
    "pelican": qwen.PELICAN,
    "phi4": plain_chat.PHI_4,
    "phi4_mini": plain_chat.PHI_4_MINI,
    "phi4_mini_fc": granite.PHI_NATIVE,
    "qwen3": qwen.QWEN,
    "qwen3_fc": qwen.QWEN_NATIVE,
    "thinkagent": headers.THINK_AGENT,
    "xlam_llama": headers.XLAM_LLAMA,
    "xlam_qwen": headers.XLAM_QWEN,
}
