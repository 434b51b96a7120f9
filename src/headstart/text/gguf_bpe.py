"""The two kinds of BPE in GGUF files, rebuilt from tokens with merges or with scores."""

from collections.abc import Sequence

from tokenizers import Tokenizer, decoders, normalizers
from tokenizers.models import BPE

from headstart.text.errors import TokenizerError
from headstart.text.gguf_metadata import GgufMetadata
from headstart.text.gguf_pretokenizers import pre_tokenization
from headstart.text.pieces import WORD_BORDER


def byte_level_bpe(metadata: GgufMetadata, tokens: Sequence[str]) -> tuple[Tokenizer, bool]:
    """GPT-2's kind, and whether a bare prompt begins with BOS unless the file says."""
    rules = pre_tokenization(metadata.text("tokenizer.ggml.pre"))
    merges = [_split_merge(merge) for merge in metadata.array("tokenizer.ggml.merges")]
    tokenizer = _bpe(tokens, merges, ignore_merges=rules.ignore_merges)
    normalizer = rules.normalizer()
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = rules.pre_tokenizer()
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, rules.add_bos


def sentencepiece_bpe(metadata: GgufMetadata, tokens: Sequence[str]) -> tuple[Tokenizer, bool]:
    """SentencePiece's kind (Llama 2, Mistral), which begins a bare prompt with BOS."""
    scores = metadata.array("tokenizer.ggml.scores")
    if len(scores) != len(tokens):
        raise TokenizerError(f"the GGUF file has {len(tokens)} tokens but {len(scores)} scores")
    unknown = token_id(metadata, "unknown_token_id", len(tokens))
    tokenizer = _bpe(
        tokens,
        merges_from_scores(tokens, scores),
        byte_fallback=True,
        unk_token=None if unknown is None else tokens[unknown],
    )
    spaces: list[normalizers.Normalizer] = [normalizers.Replace(" ", WORD_BORDER)]
    steps: list[decoders.Decoder] = [
        decoders.Replace(WORD_BORDER, " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
    ]
    if metadata.flag("tokenizer.ggml.add_space_prefix") is not False:
        spaces.insert(0, normalizers.Prepend(WORD_BORDER))
        steps.append(decoders.Strip(" ", 1, 0))
    tokenizer.normalizer = normalizers.Sequence(spaces)
    tokenizer.decoder = decoders.Sequence(steps)
    return tokenizer, True


def merges_from_scores(tokens: Sequence[str], scores: Sequence[float]) -> list[tuple[str, str]]:
    """BPE merges equal to SentencePiece's rule: of all neighbours, join into the best-scored token.

    Every way to write a token as two tokens is a merge; better-scored results come first.
    """
    score = dict(zip(tokens, scores, strict=True))
    order = {token: index for index, token in enumerate(tokens)}
    merges = [
        (token[:cut], token[cut:])
        for token in order
        for cut in range(1, len(token))
        if token[:cut] in order and token[cut:] in order
    ]
    merges.sort(key=lambda pair: (-score[pair[0] + pair[1]], order[pair[0]], order[pair[1]]))
    return merges


def _bpe(
    tokens: Sequence[str],
    merges: list[tuple[str, str]],
    *,
    ignore_merges: bool = False,
    byte_fallback: bool = False,
    unk_token: str | None = None,
) -> Tokenizer:
    vocab = {token: id_ for id_, token in enumerate(tokens)}
    if len(vocab) != len(tokens):
        raise TokenizerError("the GGUF file lists a token twice: it is damaged")
    try:
        return Tokenizer(
            BPE(
                vocab,
                merges,
                unk_token=unk_token,
                fuse_unk=unk_token is not None,
                byte_fallback=byte_fallback,
                ignore_merges=ignore_merges,
            )
        )
    except Exception as error:  # the library raises bare Exception, here for a merge out of nowhere
        raise TokenizerError(f"the GGUF file's merges do not fit its tokens: {error}") from error


def _split_merge(merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    return left, right


def token_id(metadata: GgufMetadata, key: str, vocab_size: int) -> int | None:
    """The id under `tokenizer.ggml.KEY`. Raises TokenizerError where it is no id."""
    id_ = metadata.number(f"tokenizer.ggml.{key}")
    if id_ is not None and not 0 <= id_ < vocab_size:
        raise TokenizerError(
            f"the GGUF file's tokenizer.ggml.{key} {id_} is outside its vocabulary"
        )
    return id_
