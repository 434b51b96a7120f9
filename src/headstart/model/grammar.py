"""Grammar-constrained output, by llguidance: the mask of tokens that may come next."""

from collections.abc import Sequence

import numpy as np
import torch
from llguidance import LLMatcher, LLTokenizer
from torch import Tensor

from headstart.model.errors import ModelError
from headstart.model.params import Grammar


class GrammarError(ValueError):
    """The grammar can't be used: what llguidance says of it."""


class GrammarCompiler:
    """Compiles grammars for one tokenizer. Building it scans the vocabulary once.

    `vocab_size`: columns of the model's logits; more than the tokenizer's ids is padding. Raises
    ModelError for less.
    """

    def __init__(self, tokenizer_json: str, *, vocab_size: int, eos_ids: Sequence[int]) -> None:
        try:
            self._tokenizer = LLTokenizer(
                tokenizer_json, n_vocab=vocab_size, eos_token=list(eos_ids) or None
            )
        except ValueError as error:
            raise ModelError(
                f"The tokenizer doesn't fit the model, whose vocab_size is {vocab_size}: {error}"
            ) from error
        self._vocab_size = vocab_size

    def matcher(self, grammar: Grammar) -> "GrammarMatcher":
        """A matcher at the beginning of the output. Raises GrammarError for an unusable grammar."""
        source = (
            LLMatcher.grammar_from_json_schema(grammar.source)
            if grammar.kind == "json_schema"
            else LLMatcher.grammar_from_lark(grammar.source)
        )
        matcher = LLMatcher(self._tokenizer, source)
        if error := matcher.get_error():
            raise GrammarError(error)
        return GrammarMatcher(matcher, self._vocab_size)


class GrammarMatcher:
    """Follows one output through its grammar."""

    def __init__(self, matcher: LLMatcher, vocab_size: int) -> None:
        self._matcher = matcher
        self._vocab_size = vocab_size

    @property
    def finished(self) -> bool:
        """Nothing but the end of the output may follow."""
        return bool(self._matcher.is_stopped())

    def allowed(self) -> Tensor:
        """[V] bool: the tokens that keep the output within the grammar."""
        bias = np.frombuffer(self._matcher.compute_logit_bias(), dtype=np.uint8)
        return torch.from_numpy(bias[: self._vocab_size] != 0)

    def accept(self, token: int) -> None:
        """Move on by a sampled token. Raises GrammarError if the grammar forbids it."""
        if not self._matcher.consume_token(token):
            raise GrammarError(self._matcher.get_error() or f"token {token} is not allowed here")
