"""Reads the text side of a Hugging Face model directory."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

from headstart.text.assets import TextAssets, end_of_turn_ids
from headstart.text.errors import TokenizerError


def load_directory(path: Path) -> TextAssets:
    """Read tokenizer, templates, special tokens. Raises TokenizerError naming the bad file.

    Whether a prompt begins with BOS is for tokenizer.json to say: beside one, transformers too
    ignores `add_bos_token` in tokenizer_config.json.
    """
    config = _read_json(path / "tokenizer_config.json")
    tokenizer = _load_tokenizer(path / "tokenizer.json")
    _add_declared_tokens(tokenizer, config.get("added_tokens_decoder", {}))
    special = _special_tokens({**_read_json(path / "special_tokens_map.json"), **config})
    bos = special.get("bos_token")
    return TextAssets(
        tokenizer=tokenizer,
        templates=_templates(path, config),
        special_tokens=special,
        eos_ids=_eos_ids(path, tokenizer, special),
        bos_id=None if bos is None else tokenizer.token_to_id(bos),
        add_bos=None,
    )


def _read_json(path: Path) -> dict[str, Any]:
    """A JSON object; an empty one where there is no such file (all of them are optional)."""
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TokenizerError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise TokenizerError(f"{path} holds no JSON object")
    return content


def _load_tokenizer(path: Path) -> Tokenizer:
    if not path.is_file():
        raise TokenizerError(
            f"{path} is missing, and a model directory needs it; where there is only a "
            "tokenizer.model, transformers' AutoTokenizer.from_pretrained(…).save_pretrained(…) "
            "writes one"
        )
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for whatever is wrong
        raise TokenizerError(f"{path} is not a usable tokenizer: {error}") from error
    # Some checkpoints keep the settings of their training run; a prompt is never cut or filled.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _add_declared_tokens(tokenizer: Tokenizer, declared: Mapping[str, Any]) -> None:
    """tokenizer_config.json may declare tokens, or make them special, beyond tokenizer.json."""
    present = tokenizer.get_added_tokens_decoder()
    for id_, token in sorted(declared.items(), key=lambda item: int(item[0])):
        known = present.get(int(id_))
        if known is not None and known.special == token.get("special", False):
            continue
        flags = {key: token[key] for key in _TOKEN_FLAGS if key in token}
        added = AddedToken(token["content"], **flags)
        if added.special:
            tokenizer.add_special_tokens([added])
        else:
            tokenizer.add_tokens([added])


_TOKEN_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def _special_tokens(config: Mapping[str, Any]) -> dict[str, str]:
    special = {}
    for name, value in config.items():
        content = value.get("content") if isinstance(value, dict) else value
        if name.endswith("_token") and isinstance(content, str):
            special[name] = content
    return special


def _templates(path: Path, config: Mapping[str, Any]) -> dict[str, str]:
    """Later sources win: tokenizer_config.json, chat_template.json, *.jinja files."""
    templates: dict[str, str] = {}
    for declared in (
        config.get("chat_template"),
        _read_json(path / "chat_template.json").get("chat_template"),
    ):
        if isinstance(declared, str):
            templates["default"] = declared
        elif isinstance(declared, list):
            templates |= {entry["name"]: entry["template"] for entry in declared}
    for file in sorted((path / "additional_chat_templates").glob("*.jinja")):
        templates[file.stem] = file.read_text(encoding="utf-8")
    main = path / "chat_template.jinja"
    if main.is_file():
        templates["default"] = main.read_text(encoding="utf-8")
    return templates


def _eos_ids(path: Path, tokenizer: Tokenizer, special: Mapping[str, str]) -> tuple[int, ...]:
    declared: list[int | None] = []
    if "eos_token" in special:
        declared.append(tokenizer.token_to_id(special["eos_token"]))
    for name in ("generation_config.json", "config.json"):
        eos = _read_json(path / name).get("eos_token_id")
        declared += eos if isinstance(eos, list) else [eos]
    return end_of_turn_ids(tokenizer, declared)
