"""`POST /v1/completions`."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from starlette.responses import Response

from headstart.contracts.prompt import Prompt
from headstart.dialects.openai.completion_request import CompletionRequest, parse_completion
from headstart.dialects.openai.completion_response import (
    CompletionChoice,
    CompletionStream,
    completion_response,
    told,
)
from headstart.engine.api import GenerateRequest
from headstart.model.params import Grammar
from headstart.server.call import Call
from headstart.server.context import Context, offload
from headstart.server.disconnect import while_connected
from headstart.server.generate import Answer, submit
from headstart.server.logged import Sent
from headstart.server.prepare import check_length, encode, to_hints, to_params
from headstart.server.responses import json_response
from headstart.server.settlement import Asked, Settlement, Source
from headstart.server.stream import KEEP_ALIVE, event_stream
from headstart.server.terms import Terms


@dataclass(frozen=True, slots=True)
class Job:
    """A text completion request, and one engine request per prompt."""

    id: str
    request: CompletionRequest
    terms: Terms
    asked: list[Asked]
    sent: Sent | None
    """Where requests are logged."""

    @property
    def with_logprobs(self) -> bool:
        """Whether the answer carries logprobs."""
        return self.request.sampling.logprobs is not None


def prepare(ctx: Context, body: bytes, call: Call) -> Job:
    """Parse and tokenise. Raises ApiError."""
    request = parse_completion(body)
    request_id, tenant = f"cmpl-{call.id}", call.caller.tenant
    adapter = ctx.adapter(request.model)
    terms = ctx.terms.of(request.model, "engine")
    schema = request.json_schema
    grammar = None if schema is None else Grammar("json_schema", schema)
    asked = []
    for index, text_or_ids in enumerate(request.prompts):
        field = "prompt" if len(request.prompts) == 1 else f"prompt[{index}]"
        if isinstance(text_or_ids, str):
            check_length(ctx, text_or_ids, field)
        ids = encode(ctx, text_or_ids, field, tenant)
        generate = GenerateRequest(
            id=f"{request_id}-{index}",
            prompt=ids,
            params=to_params(ctx, request.sampling, len(ids), grammar, field),
            n=request.n,
            tenant=tenant,
            salt=request.cache_salt,
            adapter=adapter,
            hints=to_hints(request.cache_hints),
        )
        prompt = Prompt(tenant, request.model, (), ids)
        plan = terms.contract.plan(prompt, terms.entries, call.began)
        asked.append(Asked(generate, prompt, plan))
    return Job(request_id, request, terms, asked, ctx.sent(call, body, told))


async def completions(ctx: Context, call: Call) -> Response:
    """Answer a text completion, whole or as a stream."""
    body = await call.body(ctx.settings.max_body_bytes)
    job = await offload(body, prepare, ctx, body, call)
    generations = await submit(ctx.engine, [each.generate for each in job.asked])
    answer = Answer(
        generations=generations,
        settlement=Settlement(
            source=Source(job.id, job.request.model, "openai.text", call.caller, call.began),
            asked=job.asked,
            terms=job.terms,
            engine=ctx.engine,
            reports=ctx.reports,
            metrics=ctx.metrics,
            books=ctx.books,
            sent=job.sent,
        ),
        choices=job.request.n,
        metrics=ctx.metrics,
        clock=call.clock,
        arrived=call.arrived,
        now=ctx.now,
        ends=ctx.ends(job.request.sampling),
    )
    if job.request.stream:
        stream = _stream(job)
        return await event_stream(call, _frames(ctx, job, answer, stream), answer, stream.fail)
    try:
        return await while_connected(call.receive, _whole(job, answer))
    finally:
        await answer.aclose()


async def _whole(job: Job, answer: Answer) -> Response:
    n = job.request.n
    count = len(job.asked) * n
    choices = [CompletionChoice(index, job.with_logprobs) for index in range(count)]
    async for prompt, chunk in answer.chunks():
        choices[prompt * n + chunk.index].add(chunk.text, chunk.logprobs, chunk.finish_reason)
    created = int(time.time())
    body = completion_response(job.id, created, job.request.model, choices, answer.account())
    return json_response(body, headers=answer.settlement.headers())


def _stream(job: Job) -> CompletionStream:
    return CompletionStream(
        response_id=job.id,
        created=int(time.time()),
        model=job.request.model,
        include_usage=job.request.include_usage,
        with_logprobs=job.with_logprobs,
    )


async def _frames(
    ctx: Context, job: Job, answer: Answer, stream: CompletionStream
) -> AsyncGenerator[bytes]:
    async with aclosing(answer.beats(ctx.settings.keep_alive_seconds)) as beats:
        async for beat in beats:
            if beat is None:
                yield KEEP_ALIVE
                continue
            prompt, chunk = beat
            index = prompt * job.request.n + chunk.index
            for data in stream.frames(index, chunk.text, chunk.logprobs, chunk.finish_reason):
                yield data
    for data in stream.end(answer.account()):
        yield data
