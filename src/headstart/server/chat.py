"""`POST /v1/chat/completions`."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from starlette.responses import Response

from headstart.dialects.openai.chat_request import ChatRequest, parse_chat
from headstart.dialects.openai.chat_response import ChatChoice, chat_response
from headstart.dialects.openai.chat_stream import ChatStream
from headstart.dialects.openai.choice import ChoiceAssembler
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
    """A chat request, and the same thing in the engine's terms."""

    asked: ChatRequest
    generate: GenerateRequest


def prepare(ctx: Context, body: bytes, caller: Caller, request_id: str) -> Job:
    """Parse, render, tokenise. Raises ApiError and TemplateError."""
    asked = parse_chat(body)
    adapter = ctx.adapter(asked.model)
    prompt = encode(ctx, asked.conversation, "messages", caller.tenant)
    params = to_params(ctx, asked.sampling, len(prompt), _grammar(ctx, asked), "messages")
    generate = GenerateRequest(
        id=request_id,
        prompt=prompt,
        params=params,
        n=asked.n,
        tenant=caller.tenant,
        salt=asked.cache_salt,
        adapter=adapter,
        hints=to_hints(asked.cache_hints, tools=bool(asked.conversation.tools)),
    )
    return Job(asked, generate)


def _grammar(ctx: Context, asked: ChatRequest) -> Grammar | None:
    if asked.tool_choice.mode == "required":
        lark = ctx.codec.tool_format.grammar(
            asked.conversation.tools, asked.tool_choice.names, asked.parallel_tool_calls
        )
        return Grammar("lark", lark)
    if asked.json_schema is not None:
        return Grammar("json_schema", asked.json_schema)
    return None


def _grammar_field(asked: ChatRequest) -> str:
    """Where the grammar came from, to name it when it can't be used."""
    return "tools" if asked.tool_choice.mode == "required" else "response_format"


async def chat(ctx: Context, call: Call) -> Response:
    """Answer a chat completion, whole or as a stream."""
    body = await call.body(ctx.settings.max_body_bytes)
    job = await offload(body, prepare, ctx, body, call.caller, f"chatcmpl-{call.id}")
    generations = await submit(ctx.engine, [job.generate], grammar_field=_grammar_field(job.asked))
    answer = Answer(
        generations=generations,
        account=Account([job.generate], ctx.reports, ctx.metrics, job.asked.conversation),
        choices=job.asked.n,
        metrics=ctx.metrics,
        clock=call.clock,
        arrived=call.arrived,
        ends=ctx.ends(job.asked.sampling),
    )
    if job.asked.stream:
        return event_stream(_frames(ctx, job, answer), answer)
    try:
        return await while_connected(call.receive, _whole(ctx, job, answer))
    finally:
        await answer.aclose()


async def _whole(ctx: Context, job: Job, answer: Answer) -> Response:
    assemblers = _assemblers(ctx, job)
    with_logprobs = job.asked.sampling.logprobs is not None
    choices = [ChatChoice(index, with_logprobs) for index in range(job.asked.n)]
    async for _, chunk in answer.chunks():
        deltas = assemblers[chunk.index].feed(chunk.text, chunk.finish_reason)
        choices[chunk.index].add(deltas, chunk.logprobs)
    created = int(time.time())
    body = chat_response(job.generate.id, created, job.asked.model, choices, answer.usage())
    return json_response(body, headers=answer.account.headers())


async def _frames(ctx: Context, job: Job, answer: Answer) -> AsyncGenerator[bytes]:
    assemblers = _assemblers(ctx, job)
    stream = ChatStream(
        response_id=job.generate.id,
        created=int(time.time()),
        model=job.asked.model,
        include_usage=job.asked.include_usage,
        with_logprobs=job.asked.sampling.logprobs is not None,
    )
    async with aclosing(answer.chunks()) as chunks:
        async for _, chunk in chunks:
            deltas = assemblers[chunk.index].feed(chunk.text, chunk.finish_reason)
            for data in stream.frames(chunk.index, deltas, chunk.logprobs):
                yield data
    for data in stream.usage(answer.usage()):
        yield data


def _assemblers(ctx: Context, job: Job) -> list[ChoiceAssembler]:
    asked = job.asked
    parse = bool(asked.conversation.tools) and asked.tool_choice.mode != "none"
    return [
        ChoiceAssembler(
            job.generate.id,
            index,
            ctx.codec.tool_format.parser() if parse else None,
            parallel=asked.parallel_tool_calls,
        )
        for index in range(asked.n)
    ]
