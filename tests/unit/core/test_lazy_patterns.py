"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import geminids
from geminids.core.lazy_patterns import lazy_pattern


def test_it_is_compiled_by_its_first_use_and_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []
    real = re.compile

    def compiling(source: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(source)
        return real(source, flags)

    monkeypatch.setattr(re, "compile", compiling)
    pattern = lazy_pattern("b+")
    assert not compiled
    found = pattern.search("abba")
    assert found
    assert found.span() == (1, 3)
    assert pattern.sub("-", "abba") == "a-a"
    assert pattern.fullmatch("bb")
    assert compiled == ["b+"]


def test_it_has_all_that_a_pattern_has() -> None:
    pattern = lazy_pattern(b"(?P<name>x)", re.IGNORECASE)
    assert pattern.groupindex == {"name": 1}
    assert pattern.pattern == b"(?P<name>x)"
    assert pattern.flags & re.IGNORECASE
    with pytest.raises(AttributeError):
        pattern.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_all_of_ours_can_be_compiled() -> None:
    kind = type(lazy_pattern(""))
    found = 0
    for module in pkgutil.walk_packages(geminids.__path__, "geminids."):
        if not module.name.endswith("__main__"):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, kind):
                    found += 1
                    assert value.pattern is not None
    assert found > 100
