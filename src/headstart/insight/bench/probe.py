"""Finds out, with a few tiny requests, what an endpoint accepts."""

from headstart.insight.bench.client import Abilities, Endpoint, completion_body
from headstart.insight.bench.prompts import LAST_ID, PromptSource
from headstart.insight.wire import EndpointError

REFUSALS = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses by which servers say that they do not understand a field; 500 is some rivals' way."""

FORMS = (
    Abilities(token_ids=True, ignore_eos=True),
    Abilities(token_ids=True, ignore_eos=False),
    Abilities(token_ids=False, ignore_eos=True),
    Abilities(token_ids=False, ignore_eos=False),
)
"""Best first."""

FORCED_TOKENS = 5
FORCED_LENGTH = 8


async def probe(endpoint: Endpoint, source: PromptSource) -> Abilities:
    """The best form it accepts. Raises EndpointError with its last words if it accepts none."""
    refusal: EndpointError | None = None
    for form in FORMS:
        # The highest id we use must be in the vocabulary, too.
        prompt = (*source.fresh(7), LAST_ID)
        try:
            await endpoint.complete(completion_body(prompt, 2, form))
        except EndpointError as error:
            if error.status not in REFUSALS:
                raise
            refusal = error
        else:
            forced = await _forced_token(endpoint, source, form) if form.token_ids else None
            return Abilities(form.token_ids, form.ignore_eos, forced)
    raise EndpointError(f"{endpoint.url}/completions cannot be measured: {refusal}") from refusal


async def _forced_token(endpoint: Endpoint, source: PromptSource, form: Abilities) -> int | None:
    """A token that logit_bias brings out, eight times in a row; None if the endpoint ignores it."""
    for _ in range(FORCED_TOKENS):
        prompt = source.fresh(8)
        token = prompt[0]
        body = completion_body(prompt, FORCED_LENGTH, form) | {"logit_bias": {str(token): 100}}
        try:
            got = await endpoint.complete(body)
        except EndpointError as error:
            if error.status not in REFUSALS:
                raise
            return None
        if is_repetition(got.text, FORCED_LENGTH):
            return token
    return None


def is_repetition(text: str, times: int) -> bool:
    """Whether `text` is one visible piece, `times` over; white space and U+FFFD prove nothing."""
    bare = "".join(text.split())
    size, rest = divmod(len(bare), times)
    return size > 0 and rest == 0 and "\ufffd" not in bare and bare == bare[:size] * times
