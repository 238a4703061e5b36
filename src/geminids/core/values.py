"""Plain values that cost nothing to define, and the way in which modules that must load quickly are written.

`typing` takes as long to load as all that Python itself loads, and its NamedTuple writes and compiles code
for each class, which takes 0.2 ms; a list of sessions is to be there in twenty. So what stands on the way of
such a command says `TYPE_CHECKING = False` by itself, which type checkers know, and takes its named tuples
from here: a class is taken as it stands, and only its few instances pay.
"""

from __future__ import annotations

# What named tuples are made of in `collections`, which has a substitute where it is not written in C.
from collections import _tuplegetter  # type: ignore[attr-defined]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, ClassVar, NoReturn, Self, dataclass_transform
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - others import it from here
else:

    def dataclass_transform(**_: object) -> object:
        """Say nothing: only type checkers listen."""
        return lambda cls: cls

    _new = tuple.__new__

    class NamedTuple(tuple):
        """A tuple with named fields, like that of `typing`."""

        __slots__ = ()

        def __init_subclass__(cls) -> None:
            if NamedTuple not in cls.__bases__:
                return
            fields = cls._fields = cls.__match_args__ = tuple(cls.__annotations__)
            cls._field_defaults = {name: getattr(cls, name) for name in fields if name in cls.__dict__}
            cls._count, cls._usual = len(fields), tuple(cls._field_defaults.values())
            for place, name in enumerate(fields):
                setattr(cls, name, _tuplegetter(place, ""))

        def __new__(cls, *values: Any, **named: Any) -> Self:
            """Make one of all values, given in order or by name; what is missing is as usual."""
            if named:
                values += cls._missing(len(values), named)
            elif missing := cls._count - len(values):
                if not 0 < missing <= len(cls._usual):
                    raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
                values += cls._usual[-missing:]
            return _new(cls, values)

        @classmethod
        def _missing(cls, given: int, named: dict[str, Any]) -> tuple[Any, ...]:
            rest = cls._fields[given:]
            known = cls._field_defaults | named
            if given + len(named) > cls._count or not named.keys() <= set(rest) <= known.keys():
                raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
            return tuple([known[name] for name in rest])

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            """One of as many values as there are fields."""
            made = _new(cls, values)
            if len(made) != cls._count:
                raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
            return made

        def _replace(self, **changes: Any) -> Self:
            """The same with other values in some fields."""
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f"{type(self).__name__} has no {', '.join(changes)}")
            return made

        def _asdict(self) -> dict[str, Any]:
            """The values by their names."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = (f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({', '.join(fields)})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)


@dataclass_transform(frozen_default=True)
class Value:
    """A value with named fields, equal to another one of its class if all of them are."""

    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        type.__setattr__(cls, "__match_args__", tuple(cls.__annotations__))

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self.__match_args__
        given = dict(zip(fields, values, strict=False), **named)
        missing = [name for name in fields if name not in given and not hasattr(type(self), name)]
        if missing or len(given) != len(values) + len(named) or not given.keys() <= set(fields):
            raise TypeError(f"{type(self).__name__} takes {', '.join(fields)}")
        self.__dict__.update(given)

    def __setattr__(self, name: str, _: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values())

    def __repr__(self) -> str:
        fields = (f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({', '.join(fields)})"

    def _replace(self, **changes: Any) -> Self:
        """The same with other values in some fields."""
        return type(self)(**{name: getattr(self, name) for name in self.__match_args__} | changes)

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)
