"""Whoever swallows an error says why: beside each handler that does nothing stands its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import geminids

ROOT = Path(geminids.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if "node_modules" not in path.parts)


@pytest.mark.slow
def test_every_handler_that_swallows_an_error_gives_its_reason() -> None:
    found = [place for path in FILES for place in swallowed(path.read_text("utf-8"), path.relative_to(ROOT))]
    assert len(FILES) > 400
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    f()\nexcept OSError:\n    pass\n",
        "for x in y:\n    try:\n        f()\n    except OSError:  # noqa: PERF203\n        continue\n",
        "with suppress(OSError):\n    f()\n",
        "with contextlib.suppress(OSError), f() as x:\n    g(x)\n",
    ],
)
def test_what_gives_none_is_found(source: str) -> None:
    assert len([*swallowed(source, Path("a.py"))]) == 1
    told = source.replace("    pass", "    # It is gone.\n    pass")
    told = told.replace("        continue", "        # It is gone.\n        continue")
    if told == source:
        told = f"# It is gone.\n{source}"
    assert not [*swallowed(told, Path("a.py"))]


def swallowed(source: str, path: Path) -> Iterator[str]:
    """The places in a file where an error goes without a word."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler | ast.With) and _swallows(node):
            beside = lines[max(node.lineno - 2, 0) : node.end_lineno]
            if not any(map(_is_reason, beside)):
                yield f"{path}:{node.lineno}"


def _swallows(node: ast.ExceptHandler | ast.With) -> bool:
    if isinstance(node, ast.ExceptHandler):
        return all(isinstance(step, ast.Pass | ast.Continue) for step in node.body)
    return any("suppress(" in ast.unparse(item.context_expr) for item in node.items)


def _is_reason(line: str) -> bool:
    _, sign, comment = line.partition("# ")
    return bool(sign) and (not comment.startswith("noqa") or " - " in comment)
