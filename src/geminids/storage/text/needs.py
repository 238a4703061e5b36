"""The letters that any text must hold in which a regular expression fits, as far as its tree tells."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from re import _constants as names  # type: ignore[attr-defined,unused-ignore]
from typing import Any, TypeAlias

from geminids.core.values import Value
from geminids.storage.text.pattern_trees import REPEATS, Tree, tree_of


class AllOf(Value):
    """All of these are needed."""

    parts: "tuple[Need, ...]"


class AnyOf(Value):
    """One of these is needed."""

    parts: "tuple[Need, ...]"


Need: TypeAlias = str | AllOf | AnyOf
"""Letters that stand together somewhere, in capitals or not; or some such needs."""
NOTHING = AllOf(())
"""What every text fulfils."""


def needed_by_regex(pattern: str) -> Need:
    """What a text needs for a regular expression to fit somewhere in it."""
    return _needed(tree_of(pattern))


def either(needs: "list[Need]") -> Need:
    """One of some needs; nothing if one of them is nothing."""
    return NOTHING if NOTHING in needs else AnyOf(tuple(needs))


def _needed(tree: Tree) -> Need:
    found = _Runs()
    found.add_all(tree)
    found.end_run()
    return found.needs[0] if len(found.needs) == 1 else AllOf(tuple(found.needs))


class _Runs:
    """The letters that follow one another while a tree is gone through, and the runs before them."""

    def __init__(self) -> None:
        self.needs: list[Need] = []
        self._run = ""

    def end_run(self) -> None:
        """Something else follows."""
        if self._run:
            self.needs.append(self._run)
        self._run = ""

    def add_all(self, tree: Tree) -> None:
        """What a tree begins with follows what was before it."""
        for name, value in tree:
            self._add(name, value)

    def _add(self, name: object, value: Any) -> None:
        if name is names.LITERAL:
            self._run += chr(value)
        elif name is names.SUBPATTERN:
            self.add_all(value[-1])
        elif name is names.ATOMIC_GROUP:
            self.add_all(value)
        elif name in REPEATS and value[0] > 0:
            # It is there once at least.
            self.add_all(value[-1])
            self.end_run()
        else:
            self.end_run()
            if name is names.BRANCH:
                self.needs.append(either([_needed(branch) for branch in value[1]]))
