"""`generationConfig`: how the answer is drawn, and the shape it has to have."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from headstart.dialects.errors import invalid
from headstart.dialects.gemini.schema import Schema, to_json_schema
from headstart.dialects.sampling import Sampling

FIELD = "generation_config"
ANY_JSON = "{}"
DYNAMIC = -1
"""A thinking budget: the model decides, as where nothing is said (Google's guide, "Thinking")."""
MAX_STOPS = 5

Penalty = Annotated[float, Meta(ge=-2.0, le=2.0)]


class ThinkingConfig(Struct):
    """`thinkingConfig`: a model that doesn't think can be told not to, or to decide itself.

    Thoughts are included where there are any (google-genai's `ThinkingConfig`), unless it is told
    not to think as well.
    """

    include_thoughts: bool | None = None
    thinking_budget: int | None = None
    thinking_level: str | None = None


class GenerationConfig(Struct, kw_only=True):
    """As it comes over the wire."""

    temperature: Annotated[float, Meta(ge=0.0, le=2.0)] | None = None
    top_p: Annotated[float, Meta(ge=0.0, le=1.0)] | None = None
    top_k: Annotated[int, Meta(ge=0)] | None = None
    max_output_tokens: Annotated[int, Meta(ge=1)] | None = None
    candidate_count: Annotated[int, Meta(ge=1, le=8)] | None = None
    stop_sequences: list[str] | None = None
    seed: Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    response_logprobs: bool | None = None
    logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    response_mime_type: str | None = None
    response_schema: Schema | None = None
    response_json_schema: Any = None
    thinking_config: ThinkingConfig | None = None
    response_modalities: list[Literal["MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "AUDIO"]] | None = (
        None
    )
    speech_config: Any = None
    image_config: Any = None
    media_resolution: Any = None
    enable_enhanced_civic_answers: bool | None = None
    audio_transcription_config: Any = None


def to_sampling(config: GenerationConfig) -> Sampling:
    """How tokens are drawn. Raises ApiError 400 for what the types can't say."""
    stops = tuple(config.stop_sequences or ())
    if len(stops) > MAX_STOPS or "" in stops:
        message = f"'stop_sequences' takes up to {MAX_STOPS} texts that aren't empty."
        raise invalid(message, f"{FIELD}.stop_sequences")
    if config.logprobs is not None and not config.response_logprobs:
        message = "'logprobs' is only allowed when 'response_logprobs' is true."
        raise invalid(message, f"{FIELD}.logprobs")
    return Sampling(
        max_tokens=config.max_output_tokens,
        fitting=True,
        temperature=1.0 if config.temperature is None else config.temperature,
        top_p=1.0 if config.top_p is None else config.top_p,
        top_k=config.top_k or 0,
        presence_penalty=config.presence_penalty or 0.0,
        frequency_penalty=config.frequency_penalty or 0.0,
        seed=config.seed,
        stop=stops,
        logprobs=(config.logprobs or 0) if config.response_logprobs else None,
    )


def to_answer_schema(config: GenerationConfig) -> str | None:
    """The JSON schema, as JSON text, that the answer has to obey; None leaves it free."""
    schemas = [each for each in (config.response_schema, config.response_json_schema) if each]
    match config.response_mime_type:
        case None | "" | "text/plain":
            if schemas:
                message = "A response schema needs response_mime_type: application/json."
                raise invalid(message, f"{FIELD}.response_mime_type")
            return None
        case "application/json":
            pass
        case other:
            message = f"response_mime_type: {other} is not supported: use application/json."
            raise invalid(message, f"{FIELD}.response_mime_type")
    if len(schemas) > 1:
        message = "Send response_schema or response_json_schema, not both."
        raise invalid(message, f"{FIELD}.response_json_schema")
    if not schemas:
        return ANY_JSON
    (schema,) = schemas
    if isinstance(schema, Schema):
        schema = to_json_schema(schema, f"{FIELD}.response_schema")
    return msgspec.json.encode(schema).decode()


def refuse_unable(config: GenerationConfig, model: str) -> None:
    """Turn away what a text model that doesn't think can't do. Raises ApiError 400."""
    thinking = config.thinking_config or ThinkingConfig()
    field = f"{FIELD}.thinking_config"
    if thinking.include_thoughts and thinking.thinking_budget == 0:
        raise invalid(f"Thinking is not enabled for models/{model}", field)
    if thinking.thinking_budget not in (None, 0, DYNAMIC):
        raise invalid("Thinking budget is not supported for this model.", field)
    if thinking.thinking_level not in (None, "THINKING_LEVEL_UNSPECIFIED"):
        raise invalid("Thinking level is not supported for this model.", field)
    others = set(config.response_modalities or ()) - {"TEXT", "MODALITY_UNSPECIFIED"}
    if others:
        message = f"models/{model} accepts no other response modality than TEXT."
        raise invalid(message, f"{FIELD}.response_modalities")
    for name, value in (
        ("speech_config", config.speech_config),
        ("image_config", config.image_config),
    ):
        if value is not None:
            raise invalid(f"'{name}' is not supported: this model writes text.", f"{FIELD}.{name}")
