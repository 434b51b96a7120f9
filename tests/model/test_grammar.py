"""Grammars with a real tokenizer: random logits under the mask always give text of the grammar."""

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from headstart.model.errors import ModelError
from headstart.model.grammar import GrammarCompiler, GrammarError, GrammarMatcher
from headstart.model.params import Grammar, SamplingParams
from headstart.model.sampling import SequenceSampler
from headstart.text.codec import Codec

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "days": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
        "exact": {"type": "boolean"},
    },
    "required": ["city", "unit", "days"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def codec(tiny_checkpoint: Callable[..., Path]) -> Codec:
    return Codec.from_directory(tiny_checkpoint("llama"))


def compiler_of(codec: Codec, *, padding: int = 0) -> GrammarCompiler:
    """`padding`: rows of the model's head beyond the tokenizer's vocabulary."""
    return GrammarCompiler(
        codec.tokenizer_json, vocab_size=codec.vocab_size + padding, eos_ids=codec.eos_ids
    )


def generated(codec: Codec, matcher: GrammarMatcher, *, vocab: int, seed: int) -> list[int]:
    """What a model without a clue generates: uniform noise, 400 tokens at most."""
    sampler = SequenceSampler(
        SamplingParams(max_tokens=400, temperature=1.5),
        [1],
        vocab_size=vocab,
        device=torch.device("cpu"),
        seed=seed,
        mask=matcher,
    )
    noise = torch.Generator().manual_seed(seed)
    ids: list[int] = []
    while len(ids) < 400 and not sampler.finished:
        ids.append(sampler.sample(torch.randn(vocab, generator=noise)).token)
    return ids


def text_of(codec: Codec, ids: Sequence[int]) -> str:
    return b"".join(codec.token_bytes(id_) for id_ in ids if id_ not in codec.eos_ids).decode()


def assert_fits(value: Any) -> None:
    """SCHEMA by hand, so that no second library has to be believed."""
    assert set(value) in [{"city", "unit", "days"}, {"city", "unit", "days", "exact"}]
    assert isinstance(value["city"], str)
    assert len(value["city"]) <= 12
    assert value["unit"] in ("celsius", "fahrenheit")
    assert len(value["days"]) <= 3
    assert all(type(day) is int for day in value["days"])
    assert type(value.get("exact", True)) is bool


@pytest.mark.parametrize("padding", [0, 1, 57])
def test_noise_under_a_json_schema_is_json_of_that_schema(codec: Codec, padding: int) -> None:
    """Also where the model's head is padded beyond the tokenizer: padding is never drawn."""
    compiler, vocab = compiler_of(codec, padding=padding), codec.vocab_size + padding
    ended = 0
    for seed in range(12):
        matcher = compiler.matcher(Grammar("json_schema", json.dumps(SCHEMA)))
        ids = generated(codec, matcher, vocab=vocab, seed=seed)
        assert max(ids) < codec.vocab_size
        if matcher.finished:
            ended += 1
            assert_fits(json.loads(text_of(codec, ids)))
    assert ended >= 6, "integers without end may run into the limit, but not most of them"


def test_any_object_is_an_object(codec: Codec) -> None:
    compiler = compiler_of(codec)
    ended = 0
    for seed in range(20):
        matcher = compiler.matcher(Grammar("json_schema", '{"type": "object"}'))
        ids = generated(codec, matcher, vocab=codec.vocab_size, seed=seed)
        if matcher.finished:
            ended += 1
            assert isinstance(json.loads(text_of(codec, ids)), dict)
    assert ended >= 3, "noise nests deeper and deeper, but not always"


def test_noise_under_a_lark_grammar_is_text_of_that_grammar(codec: Codec) -> None:
    source = 'start: "<call>" NAME "(" NUMBER ("," NUMBER)* ")"\nNAME: /[a-z]{1,8}/\n'
    source += "NUMBER: /[0-9]{1,3}/\n"
    compiler = compiler_of(codec)
    for seed in range(20):
        matcher = compiler.matcher(Grammar("lark", source))
        text = text_of(codec, generated(codec, matcher, vocab=codec.vocab_size, seed=seed))
        assert matcher.finished
        assert re.fullmatch(r"<call>[a-z]{1,8}\([0-9]{1,3}(,[0-9]{1,3})*\)", text)


def test_the_end_of_the_text_is_allowed_only_where_the_grammar_may_end(codec: Codec) -> None:
    compiler = compiler_of(codec)
    matcher = compiler.matcher(Grammar("lark", "start: /[0-9]{2,4}/"))
    digit = codec.encode("7")
    ends = torch.tensor(codec.eos_ids)
    may_end = []
    for _ in range(4):
        may_end.append(bool(matcher.allowed()[ends].any()))
        assert not matcher.finished
        matcher.accept(digit[0])
    assert may_end == [False, False, True, True]
    assert matcher.finished


def test_accepting_the_end_of_the_text_finishes(codec: Codec) -> None:
    matcher = compiler_of(codec).matcher(Grammar("lark", "start: /[0-9]+/"))
    matcher.accept(codec.encode("7")[0])
    assert not matcher.finished
    matcher.accept(codec.eos_ids[0])
    assert matcher.finished


@pytest.mark.parametrize("padding", [0, 1, 57])
def test_the_mask_has_an_entry_for_every_logit_and_allows_no_padding(
    codec: Codec, padding: int
) -> None:
    matcher = compiler_of(codec, padding=padding).matcher(Grammar("lark", "start: /(.|\\n)*/"))
    allowed = matcher.allowed()
    assert allowed.dtype == torch.bool
    assert allowed.shape == (codec.vocab_size + padding,)
    assert allowed[: codec.vocab_size].sum() > codec.vocab_size // 2
    assert not allowed[codec.vocab_size :].any()


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar("lark", "start: nowhere"),
        Grammar("lark", "start: /(/"),
        Grammar("lark", ""),
        Grammar("json_schema", '{"type": "fish"}'),
        Grammar("json_schema", '{"$ref": "#/definitions/nowhere"}'),
        Grammar("json_schema", "{"),
        Grammar("json_schema", "[]"),
        Grammar("json_schema", '{"allOf": [{"type": "string"}, {"type": "integer"}]}'),
    ],
    ids=lambda grammar: grammar.source,
)
def test_a_grammar_that_can_not_be_used_is_refused_with_its_reason(
    codec: Codec, grammar: Grammar
) -> None:
    with pytest.raises(GrammarError) as refused:
        compiler_of(codec).matcher(grammar)
    assert str(refused.value)


def test_a_token_that_the_grammar_forbids_is_refused(codec: Codec) -> None:
    matcher = compiler_of(codec).matcher(Grammar("lark", 'start: "yes" | "no"'))
    with pytest.raises(GrammarError):
        matcher.accept(codec.encode("maybe")[0])


def test_matchers_of_one_grammar_do_not_know_of_each_other(codec: Codec) -> None:
    compiler = compiler_of(codec)
    first, second = (compiler.matcher(Grammar("lark", 'start: "abc"')) for _ in range(2))
    before = second.allowed()
    first.accept(codec.encode("a")[0])
    assert torch.equal(second.allowed(), before)
    assert not torch.equal(first.allowed(), before)


def test_random_choices_under_the_mask_never_leave_the_grammar(codec: Codec) -> None:
    """What the mask allows, `accept` takes: the two never disagree."""
    compiler, rng = compiler_of(codec), random.Random(4)
    for _ in range(10):
        matcher = compiler.matcher(Grammar("json_schema", json.dumps(SCHEMA)))
        for _ in range(60):
            if matcher.finished:
                break
            matcher.accept(rng.choice(matcher.allowed().nonzero().flatten().tolist()))


def test_a_head_with_fewer_columns_than_the_tokenizer_has_ids_is_refused(codec: Codec) -> None:
    with pytest.raises(ModelError, match="vocab_size"):
        compiler_of(codec, padding=-1)
