"""What the engine asks of a request before it is queued."""

from array import array
from collections.abc import Sequence

import numpy as np

from headstart.engine.api import GenerateRequest, InvalidRequest, PromptTooLong


def checked_prompt(
    request: GenerateRequest, *, vocab_size: int, context_length: int
) -> "array[int]":
    """The prompt, packed; what comes packed costs a look at it and no more.

    Raises InvalidRequest for an empty prompt and ids that don't exist, PromptTooLong.
    """
    most = request.params.max_tokens
    try:
        prompt = _packed(request.prompt)
        highest = int(np.frombuffer(prompt, np.uint32).max()) if prompt else 0
    except OverflowError:
        highest = vocab_size
    if highest >= vocab_size:
        raise InvalidRequest(f"Token ids must lie in 0..{vocab_size - 1}.", field="prompt")
    if not prompt:
        raise InvalidRequest("The prompt is empty; send at least one token.", field="prompt")
    if beyond := [id_ for id_ in request.params.logit_bias if not 0 <= id_ < vocab_size]:
        raise InvalidRequest(
            f"Token id {beyond[0]} in logit_bias does not exist; ids must lie in "
            f"0..{vocab_size - 1}.",
            field="logit_bias",
        )
    if len(prompt) + most > context_length:
        raise PromptTooLong(
            f"This server's context length is {context_length} tokens. "
            f"{len(prompt) + most} were requested: {len(prompt)} in the prompt and {most} for "
            "the completion. Shorten the prompt or lower max_tokens.",
            prompt_tokens=len(prompt),
            limit=context_length,
        )
    return prompt


def _packed(prompt: Sequence[int]) -> "array[int]":
    if isinstance(prompt, array) and prompt.typecode == "I":
        return prompt
    return array("I", prompt)
