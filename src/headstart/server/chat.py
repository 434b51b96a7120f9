"""Chat completions, in any dialect."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from starlette.responses import Response

from headstart.dialects.chat import ChatRequest, Comparison
from headstart.dialects.choice import ChoiceAssembler
from headstart.dialects.dialect import Dialect, Head, Renderer, Stream, Voice
from headstart.dialects.errors import invalid
from headstart.dialects.gathered import Gathered
from headstart.engine.api import GenerateRequest
from headstart.model.params import Grammar
from headstart.server.call import Call
from headstart.server.context import Context, offload
from headstart.server.diagnose import in_anthropics_words
from headstart.server.disconnect import while_connected
from headstart.server.generate import Answer, submit
from headstart.server.logged import Sent
from headstart.server.prepare import check_length, to_hints, to_params, to_prompt
from headstart.server.responses import json_response
from headstart.server.settlement import Asked, Settlement, Source
from headstart.server.stream import KEEP_ALIVE, event_stream
from headstart.server.terms import Terms
from headstart.text.errors import TemplateError
from headstart.text.tool_grammar import PROSE


@dataclass(frozen=True, slots=True)
class Job:
    """A chat request, and the same thing in the terms of engine and contract."""

    head: Head
    terms: Terms
    asked: Asked
    voice: Voice
    sent: Sent | None = None
    """Where requests are logged."""

    @property
    def request(self) -> ChatRequest:
        """What was asked for."""
        return self.head.asked

    @property
    def grammar_field(self) -> str:
        """Where its grammar came from, to name it when it can't be used."""
        return "tools" if self.request.json_schema is None else self.voice.schema_field


def chat(dialect: Dialect) -> Callable[[Context, Call], Awaitable[Response]]:
    """The endpoint that speaks `dialect`."""

    async def endpoint(ctx: Context, call: Call) -> Response:
        body = await call.body(ctx.settings.max_body_bytes)
        job = await offload(body, prepare, ctx, body, call, dialect)
        return await answer(ctx, call, dialect, job)

    return endpoint


def prepare(ctx: Context, body: bytes, call: Call, dialect: Dialect) -> Job:
    """Parse, render, tokenise. Raises ApiError and TemplateError."""
    return to_job(ctx, dialect.parse(body, call.envelope), body, call, dialect)


def to_job(ctx: Context, asked: ChatRequest, body: bytes, call: Call, voice: Voice) -> Job:
    """Render and tokenise what `body` asks, and plan what it may read. Raises ApiError, others."""
    tenant = call.caller.tenant
    adapter = ctx.adapter(asked.model)
    terms = ctx.terms.of(asked.model, voice.vendor)
    try:
        text = ctx.codec.render(asked.conversation)
    except TemplateError as error:
        raise invalid(str(error), voice.prompt_field) from error
    check_length(ctx, text, voice.prompt_field)
    prompt = to_prompt(ctx.codec, asked, text, ctx.codec.encode(text, tenant), tenant)
    grammar = _grammar(ctx, asked)
    generate = GenerateRequest(
        id=voice.response_id(call.id),
        prompt=prompt.ids,
        params=to_params(ctx, asked.sampling, prompt.tokens, grammar, voice.prompt_field),
        n=asked.n,
        tenant=tenant,
        salt=asked.cache_salt,
        adapter=adapter,
        hints=to_hints(asked.cache_hints, tools=bool(asked.conversation.tools)),
    )
    plan = terms.contract.plan(prompt, terms.entries, call.began)
    head = Head(generate.id, call.began, asked, contract=terms.name)
    sent = ctx.sent(call, body, partial(voice.told, head))
    return Job(head, terms, Asked(generate, prompt, plan), voice, sent)


def _grammar(ctx: Context, asked: ChatRequest) -> Grammar | None:
    """What the answer has to be like, if anything."""
    mode, names = asked.tool_choice.mode, asked.tool_choice.names
    tools, schema = asked.conversation.tools, asked.json_schema
    bound = schema is not None or any(tool.strict or tool.name not in names for tool in tools)
    if mode == "required" or (mode == "auto" and bound):
        otherwise = None if mode == "required" else schema or PROSE
        lark = ctx.codec.tool_format.grammar(tools, names, asked.parallel_tool_calls, otherwise)
        return Grammar("lark", lark)
    return None if schema is None else Grammar("json_schema", schema)


async def answer(ctx: Context, call: Call, renderer: Renderer, job: Job) -> Response:
    """Compute the answer and send it, whole or as a stream."""
    request = job.request
    generations = await submit(ctx.engine, [job.asked.generate], grammar_field=job.grammar_field)
    if request.comparison is not None:
        job = _compared(ctx, job, request.comparison)
    settlement = Settlement(
        source=Source(job.head.id, request.model, job.voice.name, call.caller, call.began),
        asked=[job.asked],
        terms=job.terms,
        engine=ctx.engine,
        reports=ctx.reports,
        metrics=ctx.metrics,
        books=ctx.books,
        conversation=request.conversation,
        warms=request.sampling.max_tokens == 0,
        sent=job.sent,
    )
    answer = Answer(
        generations=generations,
        settlement=settlement,
        choices=request.n,
        metrics=ctx.metrics,
        clock=call.clock,
        arrived=call.arrived,
        now=ctx.now,
        ends=ctx.ends(request.sampling),
    )
    if request.stream:
        stream = renderer.stream(job.head)
        return await event_stream(call, _frames(ctx, job, answer, stream), answer, stream.fail)
    try:
        return await while_connected(call.receive, _whole(ctx, job, answer, renderer))
    finally:
        await answer.aclose()


def _compared(ctx: Context, job: Job, wish: Comparison) -> Job:
    """Compare the prompt with the earlier one, and keep it for a later one."""
    prompt, found = job.asked.prompt, None
    if wish.previous is not None:
        earlier = ctx.compared.get(prompt.tenant, wish.previous)
        found = in_anthropics_words(job.terms.contract, earlier, prompt)
    ctx.compared.add(job.head.id, prompt)
    return replace(job, head=replace(job.head, diagnosis=found))


async def _whole(ctx: Context, job: Job, answer: Answer, renderer: Renderer) -> Response:
    assemblers = _assemblers(ctx, job)
    choices = [Gathered(index) for index in range(job.request.n)]
    async for _, chunk in answer.chunks():
        deltas = assemblers[chunk.index].feed(chunk.text, chunk.finish_reason, chunk.stop)
        choices[chunk.index].add(deltas, chunk.logprobs)
    body = renderer.whole(job.head, choices, answer.account())
    return json_response(body, headers=answer.settlement.headers())


async def _frames(ctx: Context, job: Job, answer: Answer, stream: Stream) -> AsyncGenerator[bytes]:
    assemblers = _assemblers(ctx, job)
    begun = False
    async with aclosing(answer.beats(ctx.settings.keep_alive_seconds)) as beats:
        async for beat in beats:
            if beat is None:
                yield KEEP_ALIVE
                continue
            _, chunk = beat
            if not begun:
                begun = True
                for data in stream.begin(answer.account()):
                    yield data
            deltas = assemblers[chunk.index].feed(chunk.text, chunk.finish_reason, chunk.stop)
            for data in stream.frames(chunk.index, deltas, chunk.logprobs):
                yield data
    for data in stream.end(answer.account()):
        yield data


def _assemblers(ctx: Context, job: Job) -> list[ChoiceAssembler]:
    request = job.request
    parse = bool(request.conversation.tools) and request.tool_choice.mode != "none"
    return [
        ChoiceAssembler(
            job.head.id,
            index,
            ctx.codec.tool_format.parser() if parse else None,
            parallel=request.parallel_tool_calls,
        )
        for index in range(request.n)
    ]
