"""The room of documents: one class for one shape, whichever face gives it away."""

from __future__ import annotations

import pkgutil
from collections import defaultdict
from importlib import import_module
from typing import get_type_hints

import msgspec
import pytest

from geminids.core.model import Usage
from geminids.faces import documents
from geminids.faces.documents.base import Document, filled
from geminids.faces.documents.printed import DOCUMENTS
from geminids.faces.documents.tokens import UsedTokens, used_by_request
from geminids.query.usage.figures import Tokens

for module in pkgutil.iter_modules(documents.__path__):
    import_module(f"{documents.__name__}.{module.name}")

ALIKE_BY_CHANCE = {frozenset({"LeftAlone", "LeftOutCopy"})}
"""A file that an export left alone, and a copy that could not be written: each has a name and a reason."""


def all_kinds(kind: type[Document] = Document) -> set[type[Document]]:
    return {kind}.union(*map(all_kinds, kind.__subclasses__()))


def test_no_shape_has_two_classes() -> None:
    shapes = defaultdict(set)
    for kind in all_kinds():
        if kind.__struct_fields__ and kind.__struct_config__.tag is None:
            shapes[frozenset(get_type_hints(kind).items())].add(kind.__name__)
    assert {frozenset(names) for names in shapes.values() if len(names) > 1} == ALIKE_BY_CHANCE


def test_tokens_have_one_shape() -> None:
    kinds = {kind for kind in all_kinds() if {"input", "cached", "output"} <= set(kind.__struct_fields__)}
    assert kinds == {UsedTokens}


def test_every_document_with_a_schema_is_listed() -> None:
    printed = {kind for kind in all_kinds() if str(kind.__struct_config__.tag).startswith("geminids/")}
    assert printed <= set(DOCUMENTS)
    assert len({kind.__struct_config__.tag for kind in DOCUMENTS}) == len(DOCUMENTS)


def test_a_request_has_the_shape_of_a_sum() -> None:
    usage = Usage(1, 100, cached=30, cache_write=20, output=7, thoughts=3, total=110, cache_write_hour=5)
    document = used_by_request(usage, None)
    assert document.fresh == 50
    names = Tokens._fields
    assert [getattr(document, name) for name in names] == [
        *(1, 0, 100, 30, 20, 5, 7, 3, None, 110),
        *(None, 1),
    ]


class _Pair(Document, frozen=True, kw_only=True):
    left: int
    right: int
    rest: int = 0


def test_what_neither_the_value_nor_the_caller_has_is_missed() -> None:
    value = msgspec.defstruct("Left", [("left", int), ("beside", int)])(1, 2)
    assert filled(_Pair, value, right=3) == _Pair(left=1, right=3)
    assert filled(_Pair, value, left=4, right=3) == _Pair(left=4, right=3)
    with pytest.raises(TypeError, match="right"):
        filled(_Pair, value)
    with pytest.raises(TypeError, match="wrong"):
        filled(_Pair, value, right=3, wrong=1)
