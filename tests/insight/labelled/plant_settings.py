"""What a vendor counts to the prompt without its being text."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.insight.labelled.case import DIALECTS, Case, Dialect
from tests.insight.labelled.scene import MINIMUMS, fan, planted, scene, session
from tests.insight.labelled.toolbox import hexadecimal

from headstart.insight.causes import Cause

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}},
    "required": ["answer", "sure"],
    "additionalProperties": False,
}
NAMED: Mapping[str, Any] = {
    "type": "json_schema",
    "name": "answer",
    "schema": SCHEMA,
    "strict": True,
}
FORMAT: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
}
ROOMY: Mapping[str, Any] = {"max_tokens": 16000}

Change = tuple[Cause, str, str, tuple[Mapping[str, Any], Mapping[str, Any]], str]
"""Cause, name, pointer, fields before and after, what is kept: nothing, tools, system, or unknown.
"""
CHANGES: Mapping[Dialect, tuple[Change, ...]] = {
    "anthropic": (
        (
            Cause.TOOL_CHOICE,
            "forced",
            "/tool_choice",
            ({"tool_choice": {"type": "auto"}}, {"tool_choice": {"type": "any"}}),
            "system",
        ),
        (
            Cause.TOOL_CHOICE,
            "switched-off",
            "/tool_choice",
            ({}, {"tool_choice": {"type": "none"}}),
            "system",
        ),
        (
            Cause.TOOL_CHOICE,
            "one-at-a-time",
            "/tool_choice",
            (
                {"tool_choice": {"type": "auto"}},
                {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
            ),
            "system",
        ),
        (
            Cause.THINKING,
            "budget",
            "/thinking",
            (
                {**ROOMY, "thinking": {"type": "enabled", "budget_tokens": 4000}},
                {**ROOMY, "thinking": {"type": "enabled", "budget_tokens": 8000}},
            ),
            "unknown",
        ),
        (
            Cause.THINKING,
            "switched-on",
            "/thinking",
            ({}, {"thinking": {"type": "adaptive"}}),
            "unknown",
        ),
        (
            Cause.THINKING,
            "effort",
            "/output_config/effort",
            ({"output_config": {"effort": "high"}}, {"output_config": {"effort": "low"}}),
            "unknown",
        ),
        (Cause.SETTING, "speed", "/speed", ({}, {"speed": "fast"}), "tools"),
    ),
    "chat": (
        (
            Cause.THINKING,
            "effort",
            "/reasoning_effort",
            ({"reasoning_effort": "low"}, {"reasoning_effort": "high"}),
            "nothing",
        ),
        (
            Cause.SETTING,
            "response-format",
            "/response_format",
            ({}, {"response_format": FORMAT}),
            "nothing",
        ),
        (
            Cause.SETTING,
            "verbosity",
            "/verbosity",
            ({"verbosity": "medium"}, {"verbosity": "low"}),
            "nothing",
        ),
        (
            Cause.SETTING,
            "parallel-calls",
            "/parallel_tool_calls",
            ({}, {"parallel_tool_calls": False}),
            "nothing",
        ),
    ),
    "responses": (
        (
            Cause.THINKING,
            "effort",
            "/reasoning/effort",
            ({"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "high"}}),
            "nothing",
        ),
        (
            Cause.SETTING,
            "text-format",
            "/text/format",
            ({}, {"text": {"format": NAMED}}),
            "nothing",
        ),
        (
            Cause.SETTING,
            "verbosity",
            "/text/verbosity",
            ({"text": {"verbosity": "high"}}, {"text": {"verbosity": "low"}}),
            "nothing",
        ),
        (
            Cause.SETTING,
            "parallel-calls",
            "/parallel_tool_calls",
            ({"parallel_tool_calls": True}, {"parallel_tool_calls": False}),
            "nothing",
        ),
        (
            Cause.SETTING,
            "service-tier",
            "/service_tier",
            ({"service_tier": "default"}, {"service_tier": "flex"}),
            "nothing",
        ),
    ),
    "gemini": (),
    "deepseek": (),
}
"""By each vendor's documents (the invalidation table; O3 and the diagnostics' reasons)."""
THINKERS: Mapping[Dialect, tuple[str, ...]] = {
    "anthropic": ("claude-sonnet-4-6", "claude-opus-5-5"),
    "chat": ("gpt-5.4", "gpt-5.6-terra", "gpt-6-sol"),
    "responses": ("gpt-5.6-sol", "gpt-5.4", "gpt-6.1-sol"),
}
"""Models that have such settings."""


def setting_cases(seed: int) -> Iterator[Case]:
    """All of them, for the dialects that have them."""
    for dialect in DIALECTS:
        yield _model(seed, dialect, "switched")
        yield _model(seed, dialect, "routed")
        for change in CHANGES[dialect]:
            yield _setting(seed, dialect, change)
        if dialect in ("chat", "responses"):
            yield _cache_key(seed, dialect, "session")
            yield _cache_key(seed, dialect, "fan")


def _model(seed: int, dialect: Dialect, name: str) -> Case:
    """`switched`: for the last turn. `routed`: by turns, as a router does."""
    one, other = list(MINIMUMS[dialect])[:2]
    of = scene(seed, f"model {name}", dialect, model=one)
    twin = session(of, 3 if name == "switched" else 4)
    named = [one, one, other] if name == "switched" else [one, other, one, other]
    drafts = [
        draft.with_fields(model=f"models/{model}" if dialect == "gemini" else model)
        for draft, model in zip(twin, named, strict=True)
    ]
    return planted(of, Cause.MODEL, name, drafts, twin, at="/model", kept=0)


def _setting(seed: int, dialect: Dialect, change: Change) -> Case:
    cause, name, pointer, (before, after), keeps = change
    models = THINKERS[dialect]
    of = scene(seed, f"{cause} {name}", dialect, model=models[len(name) % len(models)])
    plain = session(of, 3, tools=3)
    twin = [draft.with_fields(**before) for draft in plain]
    drafts = [*twin[:2], plain[2].with_fields(**after)]
    kept = {"nothing": 0, "tools": 3, "system": 4, "unknown": None}[keeps]
    return planted(of, cause, name, drafts, twin, at=pointer, kept=kept)


def _cache_key(seed: int, dialect: Dialect, shape: str) -> Case:
    """One key per request, for models that keep caches apart by it."""
    models = [model for model in MINIMUMS[dialect] if model.startswith(("gpt-5.6", "gpt-6"))]
    of = scene(seed, f"cache key {shape}", dialect, model=models[len(shape) % 2])
    plain = session(of, 3) if shape == "session" else fan(of, 3)
    keys = ["req-" + hexadecimal(of.rng, 12) for _ in plain]
    return planted(
        of,
        Cause.CACHE_KEY,
        f"per-request-{shape}",
        [draft.with_fields(prompt_cache_key=key) for draft, key in zip(plain, keys, strict=True)],
        [draft.with_fields(prompt_cache_key=keys[0]) for draft in plain],
        at="/prompt_cache_key",
        kept=0,
    )
