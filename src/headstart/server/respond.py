"""`POST /v1/responses`, and what it would cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from headstart.dialects.openai.organization import within
from headstart.dialects.openai.responses.diagnosis import render_diagnosis
from headstart.dialects.openai.responses.refusals import not_compacted
from headstart.dialects.openai.responses.request import AskedResponse, parse_count, parse_create
from headstart.dialects.openai.responses.response import Story
from headstart.dialects.openai.responses.voice import ResponseRenderer, ResponsesVoice
from headstart.ledger.account import Account
from headstart.server.call import Call
from headstart.server.chat import Job, answer, to_job
from headstart.server.compared import Compared
from headstart.server.context import Context, offload
from headstart.server.diagnose import in_openais_words
from headstart.server.kept import Kept
from headstart.server.prepare import locate
from headstart.server.responses import json_response

VOICE = ResponsesVoice()


async def respond(ctx: Context, call: Call) -> Response:
    """Create a response, whole or as a stream."""
    body = await call.body(ctx.settings.max_body_bytes)
    job, record = await offload(body, _prepare, ctx, body, call)
    story = Story(job.head, record.asked.echo, record.diagnose, record.keep, ctx.now)
    return await answer(ctx, call, ResponseRenderer(story), job)


def _prepare(ctx: Context, body: bytes, call: Call) -> tuple[Job, "_Record"]:
    kept = ctx.kept.of(call.caller.tenant)
    asked = parse_create(body, kept, call.id)
    job = to_job(ctx, within(asked.chat, call.envelope), body, call, VOICE)
    return job, _Record(kept, ctx.compared, asked, job)


@dataclass(frozen=True, slots=True)
class _Record:
    """What becomes of a response besides its being sent."""

    kept: Kept
    compared: Compared
    asked: AskedResponse
    job: Job

    def diagnose(self, account: Account) -> dict[str, Any] | None:
        """How its prompt differs from the one it is compared with."""
        if self.asked.comparison is None:
            return None
        contract, prompt = self.job.terms.contract, self.job.asked.prompt
        earlier = self.compared.get(prompt.tenant, self.asked.comparison)
        return render_diagnosis(in_openais_words(contract, earlier, prompt, account.read))

    def keep(self, response: Mapping[str, Any]) -> None:
        """Others may go on from it."""
        if self.asked.store:
            turn = self.asked.turn(response, self.kept.item)
            self.kept.add(turn)
            self.compared.add(turn.id, self.job.asked.prompt)


async def input_tokens(ctx: Context, call: Call) -> Response:
    """The tokens that a response would be billed for its input; nothing is computed or cached."""
    body = await call.body(ctx.settings.max_body_bytes)
    count = await offload(body, _count, ctx, body, call)
    return json_response({"object": "response.input_tokens", "input_tokens": count})


def _count(ctx: Context, body: bytes, call: Call) -> int:
    tenant = call.caller.tenant
    asked = parse_count(body, ctx.kept.of(tenant), ctx.model)
    ctx.adapter(asked.model)
    return locate(ctx, asked, tenant).tokens


async def compact(_: Context, __: Call) -> Response:
    """Refused."""
    raise not_compacted()
