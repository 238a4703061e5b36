"""Object storage as pyarrow reads files: through the store that reads all else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, Protocol

import pyarrow as pa
from pyarrow.fs import FileInfo, FileSelector, FileSystemHandler, FileType

from geminids.scale.places.stored import Stored

_BUFFER = 1 << 16
"""Bytes that are asked for at least: pyarrow asks for the pieces that it needs."""


class Objects(Protocol):
    """A folder in object storage, as much as is asked of it here."""

    @property
    def uri(self) -> str:
        """Its address."""
        ...

    def listed(self, below: str = "") -> Iterator[Stored]:
        """All objects below a folder of it."""
        ...

    def held_in(self, folder: str) -> tuple[Sequence[str], Sequence[Stored]]:
        """The folders and the objects right in a folder."""
        ...

    def about(self, name: str) -> Stored | None:
        """What an object looks like from outside."""
        ...

    def opened(self, name: str, size: int, buffer: int) -> BinaryIO:
        """An object to be read piece by piece."""
        ...


class ObjectFiles(FileSystemHandler):  # type: ignore[misc, unused-ignore]
    """A folder in object storage, to be read."""

    def __init__(self, store: Objects) -> None:
        self._store = store

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectFiles) and other._store.uri == self._store.uri

    def __hash__(self) -> int:
        return hash(self._store.uri)

    def get_type_name(self) -> str:
        """What it is."""
        return "objects"

    def normalize_path(self, path: str) -> str:
        """Names are as the store has them."""
        return path.strip("/")

    def get_file_info(self, paths: list[str]) -> list[FileInfo]:
        """What is known of some names."""
        return [self._info(path) for path in paths]

    def get_file_info_selector(self, selector: FileSelector) -> list[FileInfo]:
        """All below a folder, or right in it."""
        folder = self.normalize_path(selector.base_dir)
        if selector.recursive:
            return [_file(found) for found in self._store.listed(folder)]
        folders, files = self._store.held_in(folder)
        return [FileInfo(name, FileType.Directory) for name in folders] + list(map(_file, files))

    def open_input_file(self, path: str) -> pa.NativeFile:
        """An object that is read where it is asked for."""
        found = self._store.about(self.normalize_path(path))
        if found is None:
            raise FileNotFoundError(path)
        return pa.PythonFile(self._store.opened(found.name, found.size, _BUFFER), mode="r")

    def open_input_stream(self, path: str) -> pa.NativeFile:
        """An object that is read from its beginning."""
        return self.open_input_file(path)

    def _info(self, path: str) -> FileInfo:
        name = self.normalize_path(path)
        found = self._store.about(name) if name else None
        if found is not None:
            return _file(found)
        is_there = not name or any(self._store.held_in(name))
        return FileInfo(path, FileType.Directory if is_there else FileType.NotFound)

    def _refused(self, *_: object, **__: object) -> None:
        raise PermissionError("it is only read")

    create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = _refused
    delete_file = move = copy_file = open_output_stream = open_append_stream = _refused


def _file(found: Stored) -> FileInfo:
    return FileInfo(found.name, FileType.File, size=found.size, mtime_ns=found.mtime_ns)
