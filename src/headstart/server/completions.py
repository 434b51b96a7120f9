"""`POST /v1/completions`."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from starlette.responses import Response

from headstart.dialects.openai.completion_request import CompletionRequest, parse_completion
from headstart.dialects.openai.completion_response import (
    CompletionChoice,
    CompletionStream,
    completion_response,
)
from headstart.engine.api import GenerateRequest
from headstart.model.params import Grammar
from headstart.server.account import Account
from headstart.server.auth import Caller
from headstart.server.call import Call
from headstart.server.context import Context, offload
from headstart.server.disconnect import while_connected
from headstart.server.generate import Answer, submit
from headstart.server.prepare import encode, to_hints, to_params
from headstart.server.responses import json_response
from headstart.server.stream import event_stream


@dataclass(frozen=True, slots=True)
class Job:
    """A text completion request, and one engine request per prompt."""

    id: str
    asked: CompletionRequest
    generate: list[GenerateRequest]

    @property
    def with_logprobs(self) -> bool:
        """Whether the answer carries logprobs."""
        return self.asked.sampling.logprobs is not None


def prepare(ctx: Context, body: bytes, caller: Caller, request_id: str) -> Job:
    """Parse and tokenise. Raises ApiError."""
    asked = parse_completion(body)
    adapter = ctx.adapter(asked.model)
    schema = asked.json_schema
    grammar = None if schema is None else Grammar("json_schema", schema)
    generate = []
    for index, text_or_ids in enumerate(asked.prompts):
        field = "prompt" if len(asked.prompts) == 1 else f"prompt[{index}]"
        prompt = encode(ctx, text_or_ids, field, caller.tenant)
        params = to_params(ctx, asked.sampling, len(prompt), grammar, field)
        generate.append(
            GenerateRequest(
                id=f"{request_id}-{index}",
                prompt=prompt,
                params=params,
                n=asked.n,
                tenant=caller.tenant,
                salt=asked.cache_salt,
                adapter=adapter,
                hints=to_hints(asked.cache_hints),
            )
        )
    return Job(request_id, asked, generate)


async def completions(ctx: Context, call: Call) -> Response:
    """Answer a text completion, whole or as a stream."""
    body = await call.body(ctx.settings.max_body_bytes)
    job = await offload(body, prepare, ctx, body, call.caller, f"cmpl-{call.id}")
    generations = await submit(ctx.engine, job.generate)
    answer = Answer(
        generations=generations,
        account=Account(job.generate, ctx.reports, ctx.metrics),
        choices=job.asked.n,
        metrics=ctx.metrics,
        clock=call.clock,
        arrived=call.arrived,
        ends=ctx.ends(job.asked.sampling),
    )
    if job.asked.stream:
        return event_stream(_frames(job, answer), answer)
    try:
        return await while_connected(call.receive, _whole(job, answer))
    finally:
        await answer.aclose()


async def _whole(job: Job, answer: Answer) -> Response:
    n = job.asked.n
    count = len(job.generate) * n
    choices = [CompletionChoice(index, job.with_logprobs) for index in range(count)]
    async for prompt, chunk in answer.chunks():
        choices[prompt * n + chunk.index].add(chunk.text, chunk.logprobs, chunk.finish_reason)
    created = int(time.time())
    body = completion_response(job.id, created, job.asked.model, choices, answer.usage())
    return json_response(body, headers=answer.account.headers())


async def _frames(job: Job, answer: Answer) -> AsyncGenerator[bytes]:
    stream = CompletionStream(
        response_id=job.id,
        created=int(time.time()),
        model=job.asked.model,
        include_usage=job.asked.include_usage,
        with_logprobs=job.with_logprobs,
    )
    async with aclosing(answer.chunks()) as chunks:
        async for prompt, chunk in chunks:
            index = prompt * job.asked.n + chunk.index
            for data in stream.frames(index, chunk.text, chunk.logprobs, chunk.finish_reason):
                yield data
    for data in stream.usage(answer.usage()):
        yield data
