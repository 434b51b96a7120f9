import dataclasses
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stores.build import namespace

from headstart.cache.keys import Namespace
from headstart.stores import Unpersistable, persistable
from headstart.stores.namespace import parse

namespaces = st.builds(
    Namespace,
    weights=st.binary(min_size=1, max_size=32),
    adapter=st.none() | st.binary(min_size=1, max_size=32),
    tenant=st.text(),
    salt=st.none() | st.text(),
    dtype=st.text(),
    layout=st.text(),
    rope=st.text(),
    block_size=st.integers(1, 2**31),
)


def test_weights_without_a_digest_are_refused_with_the_reason() -> None:
    with pytest.raises(Unpersistable, match="weights have no content digest"):
        persistable(namespace(weights=b""))


def test_an_adapter_without_a_digest_is_refused_with_the_reason() -> None:
    with pytest.raises(Unpersistable, match="adapter has no content digest"):
        persistable(namespace(adapter=b""))
    assert persistable(namespace(adapter=None)) != persistable(namespace(adapter=b"x"))


@pytest.mark.parametrize(
    "change",
    [
        {"weights": b"other"},
        {"adapter": b"one"},
        {"tenant": "globex"},
        {"salt": ""},
        {"dtype": "bfloat16"},
        {"layout": "layers=3"},
        {"rope": "theta=1"},
        {"block_size": 8},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_field_is_part_of_the_identity(change: dict[str, Any]) -> None:
    plain, changed = persistable(namespace()), persistable(namespace(**change))
    assert plain.digest != changed.digest
    assert plain.folder != changed.folder


def test_no_field_of_a_namespace_is_left_out() -> None:
    written = json.loads(persistable(namespace()).text)
    assert written.keys() == {"schema"} | {field.name for field in dataclasses.fields(Namespace)}


def test_the_digest_is_the_same_in_every_process_and_release() -> None:
    golden = "6eed43515e088d318d05f731e47d8d18bd5290cb600c5daeee67535092791d2a"
    assert persistable(namespace()).digest.hex() == golden


@given(namespaces)
def test_a_written_namespace_is_read_as_it_was(space: Namespace) -> None:
    found = persistable(space)
    assert parse(found.text) == found
    assert parse(found.text).namespace == space


@given(namespaces, st.data())
def test_only_the_canonical_text_is_read(space: Namespace, draw: st.DataObject) -> None:
    text = persistable(space).text
    where = draw.draw(st.integers(0, len(text)))
    changed = text[:where] + draw.draw(st.sampled_from([b" ", b"\n", b"0", b","])) + text[where:]
    with suppress(ValueError):
        assert parse(changed).text == changed


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"null", b"\xff", b'{"schema": 1}'])
def test_other_texts_are_refused(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever of its kinds
        parse(text)
